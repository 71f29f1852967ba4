import { Secret, TOTP } from 'otpauth';
import type { Db } from '#platform/db.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import { findMethod } from '../methods/methods.store.ts';

const PERIOD = 30; // seconds

function totp(secret: string, names: { issuer: string; label: string }): TOTP {
  return new TOTP({ ...names, secret: Secret.fromBase32(secret), digits: 6, period: PERIOD, algorithm: 'SHA1' });
}

/** 160 bits in base32. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

export function totpUri(secret: string, issuer: string, label: string): string {
  return totp(secret, { issuer, label }).toString();
}

/** The 30-second step of this code, at most one step from now; undefined for a wrong code. */
export function stepOfCode(secret: string, code: string, now: Date): number | undefined {
  const delta = totp(secret, { issuer: '', label: '' }).validate({ token: code, timestamp: now.getTime(), window: 1 });
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / PERIOD) + delta;
}

const placeOf = (accountId: string): string => `sign_in_methods|secret_sealed|${accountId}`;
export const sealTotp = (keys: Keys, accountId: string, secret: string): string =>
  seal(keys, secret, placeOf(accountId));
export const unsealTotp = (keys: Keys, accountId: string, sealed: string): string | undefined =>
  unseal(keys, sealed, placeOf(accountId));

/** Accepts a code of the authenticator app, each step once: the row stores the last one. */
export async function useTotp(
  db: Db,
  { keys, now, accountId }: { keys: Keys; now: Date; accountId: string },
  code: string,
): Promise<boolean> {
  const method = await findMethod(db, accountId, 'totp');
  const secret = method?.secret_sealed && unsealTotp(keys, accountId, method.secret_sealed);
  const step = secret ? stepOfCode(secret, code, now) : undefined;
  if (!method || step === undefined) return false;
  const used = await db('sign_in_methods')
    .where({ id: method.id })
    .whereRaw('coalesce(last_step, 0) < ?', [step])
    .update({ last_step: step, last_used_at: db.fn.now() });
  return used === 1;
}

import { renderSVG } from 'uqr';
import type { z } from 'zod';
import { sessionOf } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { breaks, existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { EnableTotp, NewMethod, TotpSetup } from '../methods/methods.schemas.ts';
import { findMethod, toMethod } from '../methods/methods.store.ts';
import { notifyMethodChanged } from '../notify.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { newTotpSecret, sealTotp, stepOfCode, totpUri, unsealTotp } from './totp.ts';

const MINUTES = 10;
const TRIES = 5;

/** Starts a setup, which replaces a former one; two-factor stays off. */
export async function startTotpSetup({ db, who, deps }: Call): Promise<z.input<typeof TotpSetup>> {
  if (await findMethod(db, who.accountId, 'totp')) throw conflict('already-on', 'An authenticator is set up already');
  const { username } = existing(await db('accounts').where({ id: who.accountId }).first('username'));
  const secret = newTotpSecret();
  const setupId = newId();
  const [row] = await db('totp_setups')
    .insert({
      account_id: who.accountId,
      id: setupId,
      secret_sealed: sealTotp(deps.keys, who.accountId, secret),
      tries: TRIES,
      expires_at: db.raw('now() + make_interval(mins => ?)', [MINUTES]),
    })
    .onConflict('account_id')
    .merge()
    .returning('expires_at');
  if (!row) throw new Error('no row');
  const uri = totpUri(secret, deps.settings.get('server.name'), username);
  return { setupId, secret, uri, qrSvg: renderSVG(uri), expiresAt: iso(row.expires_at) };
}

/** Turns two-factor on with a right code, which it uses up. */
export async function finishTotpSetup(
  call: Call,
  { setupId, code, name }: z.output<typeof EnableTotp>,
): Promise<z.input<typeof NewMethod>> {
  const { who, deps, now } = call;
  const sealed = await trySetup(call, setupId);
  const secret = unsealTotp(deps.keys, who.accountId, sealed);
  if (!secret) throw notFound();
  const step = stepOfCode(secret, code, now);
  if (step === undefined) throw invalid(['body', 'code'], 'wrong_code', 'the code is wrong');
  const row = { secret_sealed: sealed, last_step: step, name: name ?? null };
  return call
    .transact(async (inside) => enable(inside, setupId, row))
    .catch((error: unknown) => {
      if (breaks(error, 'sign_in_methods_one')) throw conflict('already-on', 'An authenticator is set up already');
      throw error;
    });
}

/** Counts an attempt, in its own transaction, so that a wrong code counts too. */
async function trySetup({ db, who }: Call, setupId: string): Promise<string> {
  const [row] = await db('totp_setups')
    .where({ id: setupId, account_id: who.accountId })
    .whereRaw('tries > 0 and expires_at > now()')
    .update({ tries: db.raw('tries - 1') })
    .returning('secret_sealed');
  if (!row) throw notFound();
  return row.secret_sealed;
}

async function enable(
  call: Call,
  setupId: string,
  draft: { secret_sealed: string; last_step: number; name: string | null },
): Promise<z.input<typeof NewMethod>> {
  const { db, who } = call;
  if ((await db('totp_setups').where({ id: setupId }).delete()) !== 1) throw notFound();
  const [row] = await db('sign_in_methods')
    .insert({ id: newId(), account_id: who.accountId, kind: 'totp', ...draft })
    .returning('*');
  if (!row) throw new Error('no row');
  await db('sessions')
    .where({ id: sessionOf(who) })
    .update({ two_factor: true });
  await db('sessions').where({ account_id: who.accountId, two_factor: false }).delete();
  const codes = (await findMethod(db, who.accountId, 'recovery-codes'))
    ? undefined
    : await replaceRecoveryCodes(db, who.accountId);
  await audit(call, 'sign-in-method-added', { kind: 'totp' });
  await notifyMethodChanged(call, 'totp');
  return { method: toMethod(row, 0), ...(codes && { recoveryCodes: codes }) };
}

import { timingSafeEqual } from 'node:crypto';
import { conflict } from '#kernel/errors.ts';
import { type Keys, sign } from '#platform/keys.ts';

const LASTS_MS = 30 * 60_000;

/** What a plan was based on; a restore must match all of it. */
export interface Planned {
  backupId: string;
  /** Hash of the manifest; null for a database that a restore put aside. */
  manifestSha256: string | null;
  /** Version of this server. */
  version: string;
  accountId: string;
}

const textOf = ({ backupId, manifestSha256, version, accountId }: Planned): string =>
  JSON.stringify([backupId, manifestSha256, version, accountId]);

const sealOf = (keys: Keys, ends: number, planned: string): Buffer => sign(keys, `restore-plan|${ends}|${planned}`);

/** Valid for half an hour, for this account only. */
export function planToken(keys: Keys, planned: Planned, now: Date): string {
  const ends = now.getTime() + LASTS_MS;
  const text = textOf(planned);
  return [ends, Buffer.from(text).toString('base64url'), sealOf(keys, ends, text).toString('base64url')].join('.');
}

/** Throws 409 `plan-expired` for an invalid or expired token, `plan-changed` if the backup or the version differs. */
export function requirePlan(keys: Keys, token: string | undefined, given: { planned: Planned; now: Date }): void {
  const [ends = '', text = '', seal = ''] = token?.split('.') ?? [];
  const planned = Buffer.from(text, 'base64url').toString('utf8');
  const expected = sealOf(keys, Number(ends), planned);
  const presented = Buffer.from(seal, 'base64url');
  const isOurs = presented.length === expected.length && timingSafeEqual(presented, expected);
  if (!isOurs || !(Number(ends) > given.now.getTime())) throw conflict('plan-expired', 'Request a plan first');
  if (planned !== textOf(given.planned))
    throw conflict('plan-changed', 'The backup or the server changed since the plan: request a new plan');
}

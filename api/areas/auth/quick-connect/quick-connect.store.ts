import { createHash, randomInt } from 'node:crypto';
import { ApiError } from '#kernel/errors.ts';
import { addressGroup } from '#kernel/request.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { newId, newSecret } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import { CODE_LENGTH, CODE_LETTERS, type QuickConnect } from './quick-connect.schemas.ts';

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
const MOST_WAITING = 1000;
const MOST_BY_ADDRESS = 3;

export type QuickConnectRow = Row<'quick_connects'>;

export function toQuickConnect(row: QuickConnectRow): QuickConnect {
  return {
    code: row.code,
    state: row.state,
    device: { name: row.device_name, clientName: row.client_name, platform: null, address: row.address },
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
  };
}

const newCode = (): string =>
  Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');

export interface QuickConnectDraft {
  clientId: string;
  deviceName: string;
  clientName: string | undefined;
  address: string;
}

/** Inserts a request that is valid for ten minutes. Throws 429 with too many pending ones. */
export async function insertQuickConnect(
  db: Db,
  draft: QuickConnectDraft,
): Promise<{ row: QuickConnectRow; secret: string }> {
  await db.raw(`select pg_advisory_xact_lock(hashtextextended('quick-connect', 7))`); // the limits hold for concurrent requests
  await db('quick_connects').whereRaw('expires_at < now()').delete();
  await refuseTooMany(db, draft.address);
  const secret = newSecret('foyqc_');
  const taken = new Set<string>(await db('quick_connects').pluck('code'));
  let code = newCode();
  while (taken.has(code)) code = newCode();
  const [row] = await db('quick_connects')
    .insert({
      id: newId(),
      code,
      secret_hash: hashOf(secret),
      client_id: draft.clientId,
      device_name: draft.deviceName,
      client_name: draft.clientName ?? null,
      address: draft.address,
      expires_at: db.raw(`now() + interval '10 minutes'`),
    })
    .returning('*');
  if (!row) throw new Error('no row');
  return { row, secret };
}

async function refuseTooMany(db: Db, address: string): Promise<void> {
  const waiting = await db('quick_connects').where({ state: 'pending' }).pluck('address');
  const near = waiting.filter((one) => addressGroup(one) === addressGroup(address)).length;
  if (waiting.length >= MOST_WAITING || near >= MOST_BY_ADDRESS)
    throw new ApiError('RATE_LIMITED', 'Too many devices are pending', { retryAfterSec: 600 });
}

/** Codes are typed by hand, so letter case does not matter. */
export async function findQuickConnect(db: Db, code: string): Promise<QuickConnectRow | undefined> {
  return db('quick_connects').where({ code: code.toUpperCase() }).whereRaw('expires_at > now()').first();
}

/** Records a poll of the device; `early` when the former poll is less than a second ago. */
export async function pollQuickConnect(
  db: Db,
  secret: string,
  clientId: string | undefined,
): Promise<(QuickConnectRow & { early: boolean }) | undefined> {
  const found = await db.raw<{ rows: (QuickConnectRow & { early: boolean })[] }>(
    `with before as (select id, polled_at from quick_connects
       where secret_hash = ? and client_id = ? and expires_at > now() for update)
     update quick_connects q set polled_at = now() from before b where q.id = b.id
     returning q.*, coalesce(b.polled_at > now() - interval '1 second', false) as early`,
    [hashOf(secret), clientId ?? ''],
  );
  return found.rows[0];
}

/** Deletes the row and returns the account that approved it; undefined when it was taken already or the account is disabled. */
export async function takeQuickConnect(db: Db, row: QuickConnectRow): Promise<string | undefined> {
  const account = await db('accounts')
    .where({ id: row.account_id })
    .whereRaw('not disabled and coalesce(expires_at > now(), true)')
    .first('id');
  const taken = await db('quick_connects').where({ id: row.id }).delete();
  return taken === 1 ? account?.id : undefined;
}

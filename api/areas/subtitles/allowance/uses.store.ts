// The ledger of the daily allowance: one row a use.
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';

export interface Use {
  accountId: string;
  kind: Row<'subtitle_uses'>['kind'];
  itemId: string;
  /**
   * Time for work that goes on after the transaction. When it ends without `settleUse`, the use counts as given back, so
   * a process that dies in between takes nothing from the account.
   */
  pendingMs?: number;
}

/** How many uses an account has, and the zone whose midnight begins its day. */
export interface Allowance {
  limit: number;
  timeZone: string;
}

/** Uses of an account today. */
export interface Spent {
  used: number;
  resetsAt: Date;
}

/** Counts the uses of an account today, with the next midnight of its zone. */
export async function countUses(db: Db, accountId: string, timeZone: string): Promise<Spent> {
  const { rows } = await db.raw<{ rows: { used: number; resets_at: Date }[] }>(
    `with day as (select date_trunc('day', now() at time zone :zone) as at)
     select (day.at + interval '1 day') at time zone :zone as resets_at,
       (select count(*)::int from subtitle_uses u
        where u.account_id = :account and u.given_back_at is null and u.spent_at >= day.at at time zone :zone
          and (u.pending_until is null or u.pending_until > now())) as used
     from day`,
    { zone: timeZone, account: accountId },
  );
  const row = rows[0];
  if (!row) throw new Error('the ledger gave no answer');
  return { used: row.used, resetsAt: row.resets_at };
}

/**
 * Spends a use in the caller's transaction, which also starts the work, under a lock on the account. Returns its id, or
 * the count when the day has none left.
 */
export async function spendUse(db: Db, use: Use, { limit, timeZone }: Allowance): Promise<{ id: string } | Spent> {
  await db('accounts').where({ id: use.accountId }).forNoKeyUpdate().first('id');
  const spent = await countUses(db, use.accountId, timeZone);
  if (spent.used >= limit) return spent;
  const id = newId();
  await db('subtitle_uses').insert({
    ...{ id, account_id: use.accountId, kind: use.kind, item_id: use.itemId },
    pending_until: use.pendingMs === undefined ? null : db.raw(`now() + ? * interval '1 ms'`, [use.pendingMs]),
  });
  return { id };
}

/**
 * Ends the pending time of a use in the transaction that keeps the result. Returns false when the time is over: the use
 * counts as given back then, and the result must not be kept.
 */
export async function settleUse(db: Db, id: string): Promise<boolean> {
  const settled = await db('subtitle_uses')
    .where({ id, given_back_at: null })
    .whereRaw('pending_until > now()')
    .update({ pending_until: null });
  return settled === 1;
}

/** Gives a use back once, in the caller's transaction. */
export async function giveBackUse(db: Db, id: string): Promise<void> {
  await db('subtitle_uses').where({ id, given_back_at: null }).update({ given_back_at: db.fn.now() });
}

/** Gives back the uses of runs that failed, or that were stopped before they began. With an id, of that run alone. */
export async function giveBackLost(db: Db, jobId?: string): Promise<void> {
  await db.raw(
    `update subtitle_uses u set given_back_at = now() from jobs j
     where j.state in ('failed', 'cancelled') and j.queue = 'interactive' and j.created_at > now() - interval '2 days'
       and j.kind = 'subtitles.sync' and u.id = (j.payload->>'useId')::uuid and u.given_back_at is null
       and (j.state = 'failed' or j.state = 'cancelled' and j.started_at is null)
       and (?::uuid is null or j.id = ?::uuid)`,
    [jobId ?? null, jobId ?? null],
  );
}

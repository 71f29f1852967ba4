import type { Db } from '#platform/db.ts';

/** From the start of a transaction that changes rights to its commit, and what clocks differ. */
const LEEWAY_MS = 5000;

/** True when what the account may see may have changed since; a client that was away then reads its lists again. */
export async function rightsChanged(db: Db, accountId: string, sinceMs: number): Promise<boolean> {
  const since = new Date(sinceMs - LEEWAY_MS);
  const row = await db('rights_told')
    .where('at', '>', since)
    .where((of) => {
      of.where('account_id', accountId).orWhereNull('account_id');
    })
    .first('at');
  return row !== undefined;
}

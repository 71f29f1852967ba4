import type { Db } from '#platform/db.ts';

/** Longest time between the start and the commit of a transaction that changes rights, plus clock skew. */
const LEEWAY_MS = 5000;

/** Whether the rights of the account may have changed since; a client that reconnects then reads its lists again. */
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

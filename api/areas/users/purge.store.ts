import type { Db } from '#platform/db.ts';

/** Whether the account is deleted, so that its rows may be purged. */
export async function isDeleted(db: Db, accountId: string): Promise<boolean> {
  const found = await db('accounts').where({ id: accountId }).whereNotNull('deleted_at').first('id');
  return found !== undefined;
}

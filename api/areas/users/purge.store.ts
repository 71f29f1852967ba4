import type { Db } from '#platform/db.ts';

/** The rows of nobody else are purged. */
export async function isDeleted(db: Db, accountId: string): Promise<boolean> {
  const found = await db('accounts').where({ id: accountId }).whereNotNull('deleted_at').first('id');
  return found !== undefined;
}

import type { Db } from '#platform/db.ts';

const BATCH = 5000;

/** The rows of nobody else are purged. */
export async function isDeleted(db: Db, accountId: string): Promise<boolean> {
  const found = await db('accounts').where({ id: accountId }).whereNotNull('deleted_at').first('id');
  return found !== undefined;
}

/** Rows of a deleted account that may be many, in batches; false when none is left. */
export async function purgeSome(db: Db, accountId: string): Promise<boolean> {
  const found = await db.raw<{ rowCount: number }>(
    `delete from item_states where ctid = any(array(select s.ctid from item_states s join profiles p on p.id = s.profile_id
       where p.account_id = ? limit ?))`,
    [accountId, BATCH],
  );
  return found.rowCount > 0;
}

/** Personal storages pass to the heir, else they go with what was found in them; media files are never touched. */
export async function passOnStorages(db: Db, accountId: string, heir: string | undefined): Promise<void> {
  if (heir) await db('storages').where({ owner_id: accountId }).update({ owner_id: heir });
  const own = db('storages').where({ owner_id: accountId }).select('id');
  await db('library_folders').whereIn('storage_id', own).delete();
  await db('storages').where({ owner_id: accountId }).delete();
}

/** The account itself, and with it what refers to it; the last step, so that a job that ended early goes on. */
export async function purgeAccount(db: Db, accountId: string): Promise<void> {
  await db('accounts').where({ id: accountId }).whereNotNull('deleted_at').delete();
}

import type { Db } from '#platform/db.ts';

/**
 * Extends grace and the time in the trash by the time that the storage was unavailable, when no file could be found
 * again.
 */
export async function holdClocks(db: Db, storageId: string, unavailableMs: number): Promise<void> {
  const interval = `make_interval(secs => ?::double precision / 1000)`;
  await db.raw(
    `update media_files set missing_since = least(now(), missing_since + ${interval}) where storage_id = ? and missing_since is not null`,
    [unavailableMs, storageId],
  );
  await db.raw(
    `with own as (select distinct i.id, i.parent_id, i.grandparent_id from media_files f join items i on i.id = f.item_id
       where f.storage_id = ? and (i.missing_since is not null or i.trashed_at is not null))
     update items set missing_since = least(now(), missing_since + ${interval}), trashed_at = least(now(), trashed_at + ${interval})
     where (missing_since is not null or trashed_at is not null)
       and id in (select u.id from own, unnest(array[own.id, own.parent_id, own.grandparent_id]) as u(id))`,
    [storageId, unavailableMs, unavailableMs],
  );
}

import type { Db } from '#platform/db.ts';

/** While its storage was away nobody could find a file again: what counts grace and days in the trash goes on where it stood. */
export async function holdClocks(db: Db, storageId: string, awayMs: number): Promise<void> {
  const away = `make_interval(secs => ?::double precision / 1000)`;
  await db.raw(
    `update media_files set missing_since = least(now(), missing_since + ${away}) where storage_id = ? and missing_since is not null`,
    [awayMs, storageId],
  );
  await db.raw(
    `with own as (select distinct i.id, i.parent_id, i.grandparent_id from media_files f join items i on i.id = f.item_id
       where f.storage_id = ? and (i.missing_since is not null or i.trashed_at is not null))
     update items set missing_since = least(now(), missing_since + ${away}), trashed_at = least(now(), trashed_at + ${away})
     where (missing_since is not null or trashed_at is not null)
       and id in (select u.id from own, unnest(array[own.id, own.parent_id, own.grandparent_id]) as u(id))`,
    [storageId, awayMs, awayMs],
  );
}

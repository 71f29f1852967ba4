import type { Db } from '#platform/db.ts';

/** Raises the revision of items and the change numbers of their libraries, so that readers with a copy read them again. */
export async function reviseItems(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(
    `with grown as (update libraries set change_seq = change_seq + 1
       where id in (select library_id from items where id = any(?::uuid[])) returning id, change_seq)
     update items i set change_seq = grown.change_seq, revision = i.revision + 1, updated_at = now() from grown
     where i.library_id = grown.id and i.id = any(?::uuid[])`,
    [[...ids], [...ids]],
  );
}

/** Raises the change number of every library: what all of them show has changed. */
export async function touchLibraries(db: Db): Promise<void> {
  await db.raw(
    `with held as (select id from libraries where deleted_at is null order by id for update)
     update libraries l set change_seq = l.change_seq + 1 from held where l.id = held.id`,
  );
}

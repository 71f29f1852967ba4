import type { Db } from '#platform/db.ts';

/** Records items that left a library, for clients that synchronize a copy. */
export async function recordRemovals(db: Db, libraryId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.raw(
    `with grown as (update libraries set change_seq = change_seq + ? where id = ? returning change_seq)
     insert into library_removals (library_id, seq, item_id)
     select ?, grown.change_seq - gone.place + 1, gone.id from unnest(?::uuid[]) with ordinality as gone(id, place), grown`,
    [ids.length, libraryId, libraryId, [...ids]],
  );
}

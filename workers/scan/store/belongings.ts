import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** The items that move along with these: everything below them and their extras. */
export async function belongingsOf(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await rowsOf<{ id: string }>(
    db,
    `with own as (select id, library_id from items where id = any(?::uuid[])),
       below as (select unnest(foyer_items_below(?::uuid[])) as id
         union select i.id from items i join own on i.library_id = own.library_id and own.id in (i.parent_id, i.grandparent_id)
           where i.trashed_at is not null)
     select id from own union select id from below
     union select unnest(foyer_items_below((select coalesce(array_agg(id), '{}') from below)))`,
    [ids, ids],
  );
  return rows.map((row) => row.id);
}

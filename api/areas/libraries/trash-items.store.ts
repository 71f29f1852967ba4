import type { Db } from '#platform/db.ts';
import { recountLibrary } from './trash.store.ts';

/** An item as it was before it went to the trash. */
export interface Trashed {
  id: string;
  library_id: string;
  type: string;
  title: string;
  age_years: number | null;
  labels: number[];
}

/**
 * Moves items with their children and extras to the trash as deleted by a person, in the caller's transaction. Their files
 * stay, and no scan brings the items back. Returns every item that moved.
 */
export async function trashItems(db: Db, ids: readonly string[], accountId: string | null): Promise<Trashed[]> {
  const { rows: libraries } = await db.raw<{ rows: { id: string }[] }>(
    `with held as (select l.id from libraries l where l.id in (select i.library_id from items i where i.id = any(?::uuid[]))
       order by l.id for update)
     update libraries l set change_seq = l.change_seq + 1 from held where l.id = held.id returning l.id`,
    [[...ids]],
  );
  const { rows } = await db.raw<{ rows: Trashed[] }>(
    `update items i set trashed_at = now(), trash_reason = 'deleted', trashed_by = ?, updated_at = now(), revision = i.revision + 1,
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id)
     where i.trashed_at is null and i.id in (
       select i.id from unnest(?::uuid[]) as e(id) join items i on e.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of))
     returning i.id, i.library_id, i.type, i.title, i.age_years, i.labels`,
    [accountId, [...ids]],
  );
  for (const { id } of libraries) await recountLibrary(db, id);
  return rows;
}

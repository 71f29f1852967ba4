import type { Db } from '#platform/db.ts';
import { addToLibraries, librariesOf, measure, nextChanges, rollUpItems, withParents } from '../rollup.store.ts';

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
  await nextChanges(db, await librariesOf(db, ids));
  const { rows: below } = await db.raw<{ rows: { id: string }[] }>(
    `select i.id from unnest(?::uuid[]) as e(id) join items i on e.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of)
     where i.trashed_at is null order by i.id for no key update of i`,
    [[...ids]],
  );
  const all = [...new Set(below.map(({ id }) => id))];
  const before = await measure(db, all);
  const { rows } = await db.raw<{ rows: Trashed[] }>(
    `update items i set trashed_at = now(), trash_reason = 'deleted', trashed_by = ?, updated_at = now(), revision = i.revision + 1,
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id)
     where i.id = any(?::uuid[]) returning i.id, i.library_id, i.type, i.title, i.age_years, i.labels`,
    [accountId, all],
  );
  await addToLibraries(db, before, await measure(db, all));
  return rows;
}

/**
 * Takes one edition, all files of its label, from an item: scans leave its files alone, and the item's totals follow. Returns
 * false when no other file would remain.
 */
export async function dropEdition(db: Db, itemId: string, fileId: string): Promise<boolean> {
  await nextChanges(db, await librariesOf(db, [itemId]));
  const { rows } = await db.raw<{ rows: { rest: number }[] }>(
    `select count(*) filter (where f.edition is distinct from chosen.edition or f.id <> chosen.id and chosen.part is null)::int as rest
     from media_files f, (select id, edition, part from media_files where id = ?) chosen where f.item_id = ? and not f.ignored`,
    [fileId, itemId],
  );
  if ((rows[0]?.rest ?? 0) === 0) return false;
  const before = await measure(db, await withParents(db, [itemId]));
  await db.raw(
    `with chosen as (select id, edition, part from media_files where id = ?),
          gone as (update media_files f set ignored = true, updated_at = now() from chosen c where f.item_id = ?
            and (f.id = c.id or (c.part is not null and f.edition is not distinct from c.edition)) returning f.library_id, f.storage_id, f.path)
     insert into ignored_files (library_id, storage_id, path) select library_id, storage_id, path from gone on conflict do nothing`,
    [fileId, itemId],
  );
  await rollUpItems(db, [itemId]);
  await addToLibraries(db, before, await measure(db, await withParents(db, [itemId])));
  return true;
}

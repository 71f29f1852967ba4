import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { ItemValues } from '#platform/item-values.ts';
import { rowsOf } from '#platform/rows.ts';
import { addToLibraries, measure, rollUpItems, withParents } from '../rollup.store.ts';
import { newFields, writeNewLists } from './new-items.ts';
import { putLayers } from './write.store.ts';

type Described = Parameters<typeof newFields>[1];

/** Files of an item that go to another one. */
export interface Division {
  from: string;
  into: string;
  fileIds: readonly string[];
}

/** An item for files that leave another one. */
export interface Sibling {
  /** The item that the files leave; the new one is of its type and lies in the same container. */
  from: string;
  /** Values from the names of the files. */
  values: ItemValues;
  settings: Described['settings'];
}

/** Makes an item without files, which `divideItem` brings and counts. The caller has raised the change numbers. */
export async function makeSibling(db: Db, { from, values, settings }: Sibling): Promise<string> {
  const id = newId();
  const [source] = await rowsOf<{ type: string; library_id: string }>(
    db,
    'select type, library_id from items where id = ?',
    [from],
  );
  if (!source) throw new Error('the item was deleted');
  const layers = [{ source: 'file-name' as const, values }];
  const { details, origins, ...fields } = newFields(source.type, {
    layers: new Map([['file-name', values]]),
    settings,
  });
  await db.raw(
    `insert into items (id, library_id, type, own_type, parent_id, grandparent_id, extra_of, extra_kind, top, identity_key, title, sort_title, change_seq)
     select ?, i.library_id, i.type, i.own_type, i.parent_id, i.grandparent_id, i.extra_of, i.extra_kind, i.top, ?, i.title, i.sort_title,
       (select l.change_seq from libraries l where l.id = i.library_id) from items i where i.id = ?`,
    [id, `split:${id}`, from],
  );
  await db('items')
    .where({ id })
    .update({ ...fields, details: JSON.stringify(details), origins: JSON.stringify(origins) });
  await putLayers(db, [{ itemId: id, layers }]);
  await writeNewLists(db, [{ itemId: id, layers }], { id: source.library_id, settings });
  return id;
}

/**
 * Brings files of an item to another one, where scans leave them. The caller's transaction has raised the change numbers. A new
 * item is younger than the measures.
 */
export async function divideItem(
  db: Db,
  division: Division,
  { isNew, keepRest }: { isNew: boolean; keepRest: () => Promise<void> },
): Promise<void> {
  const { from, into, fileIds } = division;
  const before = await measure(db, await withParents(db, isNew ? [from] : [from, into]));
  await db.raw(
    `update media_files set item_id = ?, pinned = true, updated_at = now() where item_id = ? and id = any(?::uuid[])`,
    [into, from, [...fileIds]],
  );
  await keepRestOf(db, from);
  await joinParts(db, [from, into]);
  await db.raw('update markers set item_id = ? where item_id = ? and file_id = any(?::uuid[])', [
    ...[into, from],
    [...fileIds],
  ]);
  if (isNew) await takeAge(db, into);
  await keepRest();
  await db.raw(
    `update items i set revision = i.revision + 1, updated_at = now(),
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id) where i.id = any(?::uuid[])`,
    [[from, into]],
  );
  await rollUpItems(db, [from, into]);
  await addToLibraries(db, before, await measure(db, await withParents(db, [from, into])));
}

/** Pins all files of an item, which scans leave there. */
export async function pinFiles(db: Db, itemId: string, fileIds: readonly string[]): Promise<void> {
  await db.raw('update media_files set pinned = true where item_id = ? and id = any(?::uuid[])', [
    itemId,
    [...fileIds],
  ]);
}

/** Files that a merge brought, and parts, would follow the others at the next scan. */
async function keepRestOf(db: Db, itemId: string): Promise<void> {
  await db.raw(
    `update media_files f set pinned = true where f.item_id = ?
       and (f.part is not null or exists (select from merged_keys m where m.into_id = f.item_id))`,
    [itemId],
  );
}

/** Parts of an edition whose other parts are in another item are files by themselves. */
async function joinParts(db: Db, itemIds: readonly string[]): Promise<void> {
  await db.raw(
    `update media_files f set part = null, parts = null where f.item_id = any(?::uuid[]) and f.parts <> (
       select count(*) from media_files o where o.item_id = f.item_id and o.parts = f.parts and o.edition is not distinct from f.edition)`,
    [[...itemIds]],
  );
}

/** A new item came with its oldest file. */
async function takeAge(db: Db, itemId: string): Promise<void> {
  await db.raw(
    `update items i set added_at = f.first from (select min(added_at) as first from media_files where item_id = ?) f
     where i.id = ? and f.first is not null`,
    [itemId, itemId],
  );
}

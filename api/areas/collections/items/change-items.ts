import { visibleItems } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { toOne } from '../collection/answer.ts';
import { type CollectionRow, updateCollectionRow } from '../collection/collections.store.ts';
import { findCollectionRow, getCollectionRow, lockEditable } from '../collection/find.ts';
import { queueMosaic } from '../collection/mosaic.ts';
import type { Collection, ItemsChange } from '../collections.schemas.ts';
import { type After, addItems, moveItems, removeItems } from './held.store.ts';

/** Throws 404 for an item that the caller does not see, and for extras, which are in no list. */
export async function requireItems({ db, who }: Call, ids: readonly string[]): Promise<void> {
  const wanted = new Set(ids);
  if (wanted.size === 0) return;
  const rows = await visibleItems(db, who)
    .whereRaw('i.id = any(?::uuid[])', [[...wanted]])
    .whereNull('i.extra_of')
    .select('i.id');
  if (rows.length < wanted.size) throw notFound();
}

async function lockManual(call: Call, id: string): Promise<CollectionRow> {
  const row = await lockEditable(call, id);
  if (row.kind === 'smart') throw conflict('smart-collection', 'A smart collection makes its items itself');
  return row;
}

export async function addTo(
  call: Call,
  id: string,
  { itemIds, afterItemId: after }: { itemIds: readonly string[]; afterItemId?: After },
): Promise<{ added: number; already: number; collection: Collection }> {
  await lockManual(call, id);
  await requireItems(call, itemIds);
  const added = await addItems(call.db, id, { itemIds, after, byHand: true });
  if (added > 0) await noteChange(call, id);
  return {
    added,
    already: new Set(itemIds).size - added,
    collection: await toOne(call, await getCollectionRow(call, id)),
  };
}

/** Removes, then moves. Moving makes the order by hand the one that is shown. */
export async function changeItems(call: Call, id: string, { remove = [], move }: ItemsChange): Promise<Collection> {
  const row = await lockManual(call, id);
  const gone = await removeItems(call.db, id, { itemIds: remove, remembered: row.source === 'agent' });
  const moved = move ? await moveItems(call.db, id, { itemIds: move.itemIds, after: move.afterItemId }) : 0;
  if (gone + moved > 0) await noteChange(call, id, moved > 0 ? { sort: null } : {});
  // one of a catalogue with too few items left is hidden
  const after = await findCollectionRow(call, id);
  return toOne(call, after ?? { ...row, updated_at: new Date() });
}

/** A new version of the collection, and a new picture of its first items. */
export async function noteChange(call: Call, id: string, columns: Record<string, unknown> = {}): Promise<void> {
  await updateCollectionRow(call.db, id, columns);
  await queueMosaic(call, id);
}

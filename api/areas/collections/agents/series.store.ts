// Collections that catalogues know: the films of one story.
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { namesOf, updateCollectionRow } from '../collection/collections.store.ts';
import { addItems, removedFrom } from '../items/held.store.ts';

/** Whether an item is a part of a series in a catalogue. */
export interface Part {
  itemId: string;
  agent: string;
  /** Undefined for an item that is in no series there. */
  series: { id: string; title: string } | undefined;
}

const NAME_MAX = 120;

/** Places several items, those in no series by one statement. The keys of the series are locked in one order. */
export async function placeAllInSeries(db: Db, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return;
  const placed: { item_id: string; agent: string }[] = await db('collection_items as ci')
    .join('collections as c', 'c.id', 'ci.collection_id')
    .whereRaw('ci.item_id = any(?::uuid[]) and not ci.by_hand and c.agent_key is not null', [
      parts.map(({ itemId }) => itemId),
    ])
    .select('ci.item_id', db.raw(`split_part(c.agent_key, ':', 1) as agent`));
  const held = new Set(placed.map(({ item_id, agent }) => `${item_id} ${agent}`));
  const keyOf = ({ agent, series }: Part): string => `${agent}:${series?.id}`;
  const moved = parts.filter((part) => part.series || held.has(`${part.itemId} ${part.agent}`));
  for (const part of moved.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) await placeInSeries(db, part);
}

/**
 * Puts an item into the collection of its series and takes it out of others of the same catalogue. Items that a person added
 * stay, those that a person removed do not return, and a collection that a person deleted does not come back.
 */
async function placeInSeries(db: Db, { itemId, agent, series }: Part): Promise<void> {
  const key = series && `${agent}:${series.id}`;
  const left = await db('collection_items as ci')
    .join('collections as c', 'c.id', 'ci.collection_id')
    .where({ 'ci.item_id': itemId, 'ci.by_hand': false })
    .whereRaw(`c.agent_key like ? and c.agent_key is distinct from ?`, [`${agent}:%`, key ?? null])
    .pluck('c.id');
  for (const id of left) await leave(db, id, itemId);
  if (!key) return;
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 13))', [key]);
  if (await db('collection_tombstones').where({ agent_key: key }).first('agent_key')) return;
  const id = await seriesCollection(db, key, series.title.slice(0, NAME_MAX));
  if ((await removedFrom(db, id)).includes(itemId)) return;
  const added = await addItems(db, id, { itemIds: [itemId], byHand: false });
  if (added > 0) await updateCollectionRow(db, id, {});
}

async function leave(db: Db, id: string, itemId: string): Promise<void> {
  await db('collection_items').where({ collection_id: id, item_id: itemId, by_hand: false }).delete();
  await updateCollectionRow(db, id, {});
}

/** The collection of the series, under its present name unless a person set another. */
async function seriesCollection(db: Db, key: string, title: string): Promise<string> {
  const row = await db('collections').where({ agent_key: key }).first('id', 'name', 'locked_fields', 'sort_name');
  if (!row) {
    const id = newId();
    const names = namesOf(db, title);
    await db('collections').insert({
      ...{ id, ...names, kind: 'manual', source: 'agent', sharing: 'everyone', sort: 'releasedOn', agent_key: key },
    });
    return id;
  }
  if (row.name !== title && !row.locked_fields.includes('name')) {
    const kept = row.locked_fields.includes('sortName') ? row.sort_name : undefined;
    await updateCollectionRow(db, row.id, namesOf(db, title, kept));
  }
  return row.id;
}

import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** The items of manual collections and their order. Callers hold the lock of the collection. */

/** Items of a collection. */
const MOST = 10_000;
/** Between neighbours, so that an item can be put between two others without moving them. */
const GAP = 1024;

interface Place {
  item_id: string;
  position: number;
}

async function placesOf(db: Db, collectionId: string): Promise<Place[]> {
  return db('collection_items')
    .where({ collection_id: collectionId })
    .orderBy(['position', 'item_id'])
    .select('item_id', 'position');
}

/** Where items go: after an item; first for null; last for undefined, and for an item that is not there. */
export type After = string | null | undefined;

interface Adding {
  itemIds: readonly string[];
  after?: After;
  /** False for what a catalogue adds. */
  byHand: boolean;
}

/** Adds those that are not there yet, in the given order, and returns how many. Throws 409 `collection-full`. */
export async function addItems(db: Db, id: string, { itemIds, after, byHand }: Adding): Promise<number> {
  const places = await placesOf(db, id);
  const there = new Set(places.map((place) => place.item_id));
  const news = [...new Set(itemIds)].filter((itemId) => !there.has(itemId));
  if (places.length + news.length > MOST)
    throw conflict('collection-full', `A collection has at most ${MOST} items`, { limit: MOST });
  if (news.length === 0) return 0;
  const positions = await roomFor(db, id, { places, after, count: news.length });
  await db.raw(
    `insert into collection_items (collection_id, item_id, position, by_hand)
     select ?::uuid, item_id, position, ? from unnest(?::uuid[], ?::bigint[]) as news(item_id, position)`,
    [id, byHand, news, positions],
  );
  if (byHand) await db('collection_removals').where({ collection_id: id }).whereIn('item_id', news).delete();
  return news.length;
}

/** Positions for `count` items, all different, after `after`. Moves the others when there is no room. */
async function roomFor(
  db: Db,
  id: string,
  { places, after, count }: { places: readonly Place[]; after: After; count: number },
): Promise<number[]> {
  const at = after === null ? 0 : places.findIndex((place) => place.item_id === after) + 1 || places.length;
  const low = places[at - 1]?.position ?? (places[0]?.position ?? 0) - GAP * (count + 1);
  const high = places[at]?.position ?? low + GAP * (count + 1);
  const step = Math.floor((high - low) / (count + 1));
  if (step >= 1) return Array.from({ length: count }, (_, i) => low + step * (i + 1));
  const spread = places.map((place, i) => ({ ...place, position: (i + (i < at ? 1 : count + 1)) * GAP }));
  await db.raw(
    `update collection_items c set position = n.position from unnest(?::uuid[], ?::bigint[]) as n(item_id, position)
     where c.collection_id = ? and c.item_id = n.item_id`,
    [spread.map((place) => place.item_id), spread.map((place) => place.position), id],
  );
  return Array.from({ length: count }, (_, i) => (at + i + 1) * GAP);
}

/** Removes items; unknown ones are passed over. With `remembered` a catalogue does not bring them back. */
export async function removeItems(
  db: Db,
  id: string,
  { itemIds, remembered }: { itemIds: readonly string[]; remembered: boolean },
): Promise<number> {
  const gone = await db('collection_items')
    .where({ collection_id: id })
    .whereIn('item_id', [...itemIds])
    .delete()
    .returning('item_id');
  if (remembered && gone.length > 0)
    await db('collection_removals')
      .insert(gone.map((row) => ({ collection_id: id, item_id: row.item_id })))
      .onConflict(['collection_id', 'item_id'])
      .ignore();
  return gone.length;
}

/** Puts items together after another, in the given order; unknown ones are passed over. */
export async function moveItems(
  db: Db,
  id: string,
  { itemIds, after }: { itemIds: readonly string[]; after: string | null },
): Promise<number> {
  const all = await placesOf(db, id);
  const there = new Set(all.map((place) => place.item_id));
  const moved = [...new Set(itemIds)].filter((itemId) => there.has(itemId));
  if (moved.length === 0) return 0;
  const isMoved = new Set(moved);
  const places = all.filter((place) => !isMoved.has(place.item_id));
  const positions = await roomFor(db, id, { places, after: anchorOf(all, isMoved, after), count: moved.length });
  await db.raw(
    `update collection_items c set position = n.position from unnest(?::uuid[], ?::bigint[]) as n(item_id, position)
     where c.collection_id = ? and c.item_id = n.item_id`,
    [moved, positions, id],
  );
  return moved.length;
}

/** The item to follow. When that one moves too, the nearest before it that stays. */
function anchorOf(all: readonly Place[], isMoved: ReadonlySet<string>, after: string | null): After {
  if (after === null || !isMoved.has(after)) return after;
  const at = all.findIndex((place) => place.item_id === after);
  return all.slice(0, at).findLast((place) => !isMoved.has(place.item_id))?.item_id ?? null;
}

/** Makes the collection hold exactly these, in this order. */
export async function replaceItems(db: Db, id: string, itemIds: readonly string[]): Promise<void> {
  await db('collection_items').where({ collection_id: id }).delete();
  await addItems(db, id, { itemIds, byHand: true });
}

/** Ids of items that a person removed from it. */
export async function removedFrom(db: Db, id: string): Promise<string[]> {
  const rows = await rowsOf<{ item_id: string }>(
    db,
    'select item_id from collection_removals where collection_id = ?',
    [id],
  );
  return rows.map((row) => row.item_id);
}

/** Puts the item that others were merged into in their place in each collection. */
export async function joinCollections(db: Db, pairs: readonly { from: string; into: string }[]): Promise<void> {
  for (const { from, into } of pairs) {
    await db.raw(
      `insert into collection_items (collection_id, item_id, position, by_hand)
       select collection_id, ?, position, by_hand from collection_items where item_id = ? on conflict do nothing`,
      [into, from],
    );
  }
}

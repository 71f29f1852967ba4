import { raiseLabelsOf, raiseLabelsOfItems } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts, Payload } from '#platform/events.ts';
import { emitMany } from '#platform/outbox.ts';
import type { Row } from '#platform/typed-query.ts';

export const MOST_OF_ITEM = 100;

type LabelledItem = Pick<Row<'items'>, 'id' | 'library_id' | 'type' | 'title' | 'age_years' | 'labels'>;

/**
 * Runs `write`, which changes the labels of these items, and recomputes the label lists of the items and their descendants.
 * Locks their libraries until the end of the transaction, so that no scan adds descendants. Emits `item.updated` for each change.
 */
export async function relabel(db: Db, ids: readonly string[], write: () => Promise<unknown>): Promise<void> {
  await raiseLabelsOfItems(db, ids);
  const before = await readItems(db, ids);
  await write();
  await db.raw('select foyer_close_labels(?::uuid[])', [[...ids]]);
  await emitChanges(db, before, await readItems(db, ids));
}

async function readItems(db: Db, ids: readonly string[]): Promise<LabelledItem[]> {
  return db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select('id', 'library_id', 'type', 'title', 'labels', db.raw(`${ageSql('items')} as age_years`));
}

async function emitChanges(db: Db, before: readonly LabelledItem[], after: readonly LabelledItem[]): Promise<void> {
  const old = new Map(before.map((item) => [item.id, item.labels]));
  const changed = after.filter((item) => String(old.get(item.id)) !== String(item.labels));
  await emitMany(
    db,
    'item.updated',
    changed.map((item) => updateOf(item, old.get(item.id) ?? [])),
  );
}

function updateOf(item: LabelledItem, before?: number[]): { payload: Payload<'item.updated'>; facts: EventFacts } {
  const { id: itemId, library_id: libraryId, type, title } = item;
  return { payload: { itemId, libraryId, type, title, changed: ['labels'] }, facts: factsOf(item, before) };
}

function factsOf(item: LabelledItem, before: number[] | undefined): EventFacts {
  return {
    libraryId: item.library_id,
    itemId: item.id,
    ...(item.age_years === null ? {} : { ageYears: item.age_years }),
    labels: item.labels,
    ...(before ? { before: { labels: before } } : {}),
  };
}

export interface Relabelled {
  added: number;
  removed: number;
}

/** Adds the label to some items and removes it from others. Throws 409 `too-many-labels` with details.itemIds. */
export async function changeItems(
  db: Db,
  number: number,
  { add, remove }: { add: readonly string[]; remove: readonly string[] },
): Promise<Relabelled> {
  const counts: Relabelled = { added: 0, removed: 0 };
  await relabel(db, [...add, ...remove], async () => {
    const added = await db.raw<{ rowCount: number }>(
      'insert into item_labels (item_id, label) select id, ? from unnest(?::uuid[]) as new(id) on conflict do nothing',
      [number, [...add]],
    );
    const removed = await db.raw<{ rowCount: number }>(
      'delete from item_labels where label = ? and item_id = any(?::uuid[])',
      [number, [...remove]],
    );
    Object.assign(counts, { added: added.rowCount, removed: removed.rowCount });
    if (added.rowCount > 0) await refuseFull(db, add);
  });
  return counts;
}

async function refuseFull(db: Db, ids: readonly string[]): Promise<void> {
  const full = (await db('item_labels')
    .whereRaw('item_id = any(?::uuid[])', [[...ids]])
    .groupBy('item_id')
    .havingRaw('count(*) > ?', [MOST_OF_ITEM])
    .pluck('item_id')) as string[];
  if (full.length === 0) return;
  throw conflict('too-many-labels', `An item has at most ${MOST_OF_ITEM} labels`, { itemIds: full.slice(0, 100) });
}

/** Items above these from which they inherit the label; empty when each carries it itself or lacks it. */
export async function inheritedFrom(db: Db, number: number, ids: readonly string[]): Promise<string[]> {
  const found = await db.raw<{ rows: { id: string }[] }>(
    `with recursive up as (
       select i.id, i.parent_id, i.grandparent_id, i.extra_of from items i
         where i.id = any(:ids::uuid[]) and i.labels @> array[:number::int]
           and not exists (select from item_labels il where il.item_id = i.id and il.label = :number)
       union
       select a.id, a.parent_id, a.grandparent_id, a.extra_of from up u
         join items a on a.id in (u.parent_id, u.grandparent_id, u.extra_of))
     select il.item_id as id from up join item_labels il on il.item_id = up.id and il.label = :number order by il.item_id`,
    { ids: [...ids], number },
  );
  return found.rows.map(({ id }) => id);
}

/** Items that carry the label directly, up to `most`. */
export async function carriersOf(db: Db, number: number, most: number): Promise<string[]> {
  return db('item_labels').where({ label: number }).orderBy('item_id').limit(most).pluck('item_id');
}

/** Items whose label list contains the number, including those in the trash. */
export async function listedWith(db: Db, number: number, most: number): Promise<string[]> {
  return db('items').whereRaw(`labels <> '{}' and labels @> array[?::int]`, [number]).limit(most).pluck('id');
}

export async function countCarriers(db: Db, number: number): Promise<number> {
  const [row] = await db('item_labels').where({ label: number }).count<{ count: number }[]>('* as count');
  return Number(row?.count ?? 0);
}

const MOST_EMITTED = 1000;

/** After a rename: invalidates the lists of the libraries, and emits `item.updated` for the first 1,000 items with the label. */
export async function touchCarriers(db: Db, number: number): Promise<void> {
  const ids = await carriersOf(db, number, MOST_EMITTED);
  await raiseLabelsOf(db, number);
  const items = await readItems(db, ids);
  await emitMany(
    db,
    'item.updated',
    items.map((item) => updateOf(item)),
  );
}

/** Copies labels to the items that took over the files of others; `pairs` is JSON of former, heir and whether the heir is new. */
export async function copyLabels(db: Db, pairs: string): Promise<void> {
  await db.raw(
    `insert into item_labels (item_id, label)
     select r.heir, unnest(i.labels) from jsonb_to_recordset(?::jsonb) as r(former uuid, heir uuid, fresh boolean)
       join items i on i.id = r.former
       where i.labels <> '{}' and (r.fresh or not exists (select 1 from media_files f where f.item_id = i.id))
     on conflict do nothing`,
    [pairs],
  );
}

/** Deletes labels of items that no longer exist and have no tombstone. */
export async function forgetLabels(db: Db): Promise<void> {
  await db.raw(`delete from item_labels l where not exists (select from items i where i.id = l.item_id)
    and not exists (select from item_tombstones t where t.item_id = l.item_id)`);
}

/** Gives the labels of items to those that they become part of, so that a merge never shows hidden files. */
export async function joinLabels(db: Db, pairs: readonly { from: string; into: string }[]): Promise<void> {
  await copyLabels(db, JSON.stringify(pairs.map(({ from, into }) => ({ former: from, heir: into, fresh: true }))));
  await db.raw('select foyer_close_labels(?::uuid[])', [pairs.map(({ into }) => into)]);
}

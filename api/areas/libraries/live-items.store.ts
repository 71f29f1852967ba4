// Channels as items of a library of type livetv; the area Live TV keeps everything else of a channel.
import { ageSql } from '#identity/visibility.ts';
import { ageYears } from '#platform/age-ratings.ts';
import type { Db } from '#platform/db.ts';
import { emit, emitMany } from '#platform/outbox.ts';
import { rowsOf } from '#platform/rows.ts';
import { sortTitle } from '#platform/sort-title.ts';
import type { Row } from '#platform/typed-query.ts';
import { recordRemovals } from './removals.store.ts';
import { addToLibraries, lockLibraries, measure, nextChange } from './rollup.store.ts';

/** What the item of a channel shows. */
export interface ChannelItem {
  id: string;
  title: string;
  /** The whole part of its number. */
  number: number;
  ageRating: string | null;
}

const recordOf = ({ id, title, number, ageRating }: ChannelItem): object => ({
  ...{ id, title, sort_title: sortTitle(title, 'en'), index_number: number, age_rating: ageRating },
  age_years: ageRating === null ? null : (ageYears(ageRating) ?? null),
});

const RECORDS = `jsonb_to_recordset(?::jsonb) as r(id uuid, title text, sort_title text, index_number int, age_rating text, age_years int)`;

/** Adds channels to a library, whose row stays locked until the transaction ends. */
export async function insertChannelItems(db: Db, libraryId: string, items: readonly ChannelItem[]): Promise<void> {
  if (items.length === 0) return;
  await lockLibraries(db, [libraryId]);
  const seq = await nextChange(db, libraryId);
  await db.raw(
    `insert into items (id, library_id, type, top, identity_key, title, sort_title, index_number, age_rating, age_years, change_seq)
     select r.id, ?, 'channel', true, r.id::text, r.title, r.sort_title, r.index_number, r.age_rating, r.age_years, ? from ${RECORDS}`,
    [libraryId, seq, JSON.stringify(items.map(recordOf))],
  );
  const ids = items.map(({ id }) => id);
  await addToLibraries(db, new Map(), await measure(db, ids));
}

/** Changes the items of channels. Returns the ids of those that differ now. */
export async function changeChannelItems(db: Db, libraryId: string, items: readonly ChannelItem[]): Promise<string[]> {
  if (items.length === 0) return [];
  await lockLibraries(db, [libraryId]);
  const seq = await nextChange(db, libraryId);
  const rows = await rowsOf<{ id: string }>(
    db,
    `update items i set title = r.title, sort_title = r.sort_title, index_number = r.index_number, age_rating = r.age_rating,
       age_years = r.age_years, change_seq = ?, revision = i.revision + 1, updated_at = now()
     from ${RECORDS} where i.id = r.id and (i.title, i.index_number, i.age_rating, i.age_years)
       is distinct from (r.title, r.index_number, r.age_rating, r.age_years)
     returning i.id`,
    [seq, JSON.stringify(items.map(recordOf))],
  );
  return rows.map(({ id }) => id);
}

type EventRow = Pick<Row<'items'>, 'id' | 'title' | 'labels' | 'age_years'>;

const eventOf = (libraryId: string, { id: itemId, title, labels, age_years: age }: EventRow) => ({
  payload: { itemId, libraryId, type: 'channel', title },
  facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
});

const eventRows = (db: Db, ids: readonly string[]): Promise<EventRow[]> =>
  rowsOf<EventRow>(
    db,
    `select i.id, i.title, i.labels, ${ageSql('i')} as age_years from items i where i.id = any(?::uuid[])
     order by age_years nulls first, i.id`,
    [[...ids]],
  );

/** One event for all of these channels, which names the one that most people may see: clients read the list again. */
export async function emitChannels(
  db: Db,
  name: 'item.added' | 'item.updated',
  { libraryId, ids }: { libraryId: string; ids: readonly string[] },
): Promise<void> {
  const [first] = await eventRows(db, ids.slice(0, 1000));
  if (first) await emit(db, name, eventOf(libraryId, first));
}

/** Deletes channels with everything that hangs on their items, and emits `item.deleted` for each. */
export async function deleteChannelItems(db: Db, libraryId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockLibraries(db, [libraryId]);
  const events = await eventRows(db, ids);
  const before = await measure(db, ids);
  await recordRemovals(db, libraryId, ids);
  await db('items').where({ library_id: libraryId }).whereIn('id', ids).delete();
  await addToLibraries(db, before, new Map());
  await emitMany(
    db,
    'item.deleted',
    events.map((row) => eventOf(libraryId, row)),
  );
}

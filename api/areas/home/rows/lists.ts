// Rows that are lists of items with a sort and a filter.
import type { Knex } from 'knex';
import { getCollectionRow } from '#areas/collections/public.ts';
import {
  checkList,
  firstIds,
  getVisibleItem,
  type LibraryRow,
  type Listing,
  listSimilar,
  onlyUnwatched,
  type Shelf,
  type SortName,
  shelvesOf,
} from '#areas/items/public.ts';
import { findAppliedFilter } from '#areas/saved-filters/public.ts';
import { notFound } from '#kernel/errors.ts';
import { printFilter } from '#kernel/filter.ts';
import { baseOf } from '#platform/own-types.ts';
import type { LayoutRow, RowSource } from '../layout/layout.schemas.ts';
import { keySql, onlyShown, ownStates } from './cards.view.ts';
import type { Found, Reading } from './reader.ts';

const SORTS: readonly SortName[] = [
  'title',
  'addedAt',
  'releasedOn',
  'year',
  'rating',
  'runtimeMs',
  'lastPlayedAt',
  'playCount',
  'takenAt',
  'random',
];

interface Listed {
  sort: string;
  shelves: readonly Shelf[];
  filter?: string | undefined;
  narrow?: (query: Knex.QueryBuilder) => void;
}

export async function first(reading: Reading, { sort, shelves, filter, narrow }: Listed): Promise<Found> {
  const { call, limit, row } = reading;
  const listing: Listing = {
    types: [...new Set(shelves.map(({ type }) => type))],
    shelves,
    narrow: (query) => {
      onlyShown(query, reading);
      if (row.hideWatched) onlyUnwatched(query, call.who);
      narrow?.(query);
    },
  };
  const ids = await firstIds(call, listing, { sort, fallback: sort, sorts: SORTS, filter, limit });
  return { cards: ids.map((id) => ({ id })) };
}

const ofTypes = (libraries: readonly LibraryRow[], types: readonly string[]): LibraryRow[] =>
  libraries.filter((library) => types.includes(baseOf(library)));

const FILMED = ['movies', 'shows', 'videos', 'courses'];

/** The filter of a source, with its genre. */
function filterOf({ filter, genre }: Pick<RowSource, 'filter' | 'genre'>): string | undefined {
  const narrowed =
    genre === undefined ? undefined : printFilter({ all: [{ field: 'genre', op: 'eq', values: [genre] }] });
  return [filter, narrowed].filter(Boolean).join(';') || undefined;
}

/** Throws 400 for a filter or a sort that no list of items takes, 404 for a hidden collection and a hidden saved filter. */
export async function checkSource(call: Reading['call'], { source = {} }: LayoutRow): Promise<void> {
  if (source.collectionId !== undefined) await getCollectionRow(call, source.collectionId);
  if (source.filterId !== undefined && !(await findAppliedFilter(call, source.filterId))) throw notFound();
  await checkList(call, { filter: filterOf(source), sort: source.sort, fallback: '-addedAt', sorts: SORTS });
}

/** By the filter and sort that the layout names. */
export const filtered = async (reading: Reading): Promise<Found> => {
  const { source = {} } = reading.row;
  const shelves = shelvesOf(reading.libraries, undefined);
  return first(reading, { sort: source.sort ?? '-addedAt', shelves, filter: filterOf(source) });
};

/** Released in the last two years, the newest first. */
export const newlyReleased = async (reading: Reading): Promise<Found> =>
  first(reading, {
    sort: '-releasedOn',
    shelves: shelvesOf(ofTypes(reading.libraries, ['movies', 'shows', 'music', 'books', 'comics', 'games']), undefined),
    narrow: (query) => void query.whereRaw('i.released_on between current_date - 730 and current_date'),
  });

export const unwatchedRandom = async (reading: Reading): Promise<Found> =>
  first(
    { ...reading, row: { ...reading.row, hideWatched: true } },
    { sort: 'random', shelves: shelvesOf(ofTypes(reading.libraries, FILMED), undefined) },
  );

export const courses = async (reading: Reading): Promise<Found> =>
  first(reading, { sort: 'title', shelves: shelvesOf(ofTypes(reading.libraries, ['courses']), undefined) });

export const games = async (reading: Reading): Promise<Found> =>
  first(reading, { sort: '-lastPlayedAt', shelves: shelvesOf(ofTypes(reading.libraries, ['games']), undefined) });

export const photosRecent = async (reading: Reading): Promise<Found> =>
  first(reading, { sort: '-takenAt', shelves: shelvesOf(ofTypes(reading.libraries, ['photos']), undefined) });

/** Films or shows like the one that the profile watched last. */
export async function becauseYouWatched(reading: Reading): Promise<Found> {
  const { call, limit } = reading;
  const [last]: { key: string }[] = await ownStates(reading)
    .whereRaw(`i.type in ('movie', 'episode') and (s.watched or s.progress > 0.5) and s.last_played_at is not null`)
    .orderBy('s.last_played_at', 'desc')
    .limit(1)
    .select(call.db.raw(`${keySql('i')} as key`));
  if (!last) return { cards: [] };
  const item = await getVisibleItem(call.db, call.who, last.key);
  const shown = new Set(reading.libraries.map(({ id }) => id));
  const alike = await listSimilar(call, item, { unwatched: true });
  const cards = alike
    .filter(({ id, libraryId }) => shown.has(libraryId) && !reading.hidden.includes(id))
    .slice(0, limit);
  return { cards, reason: { itemId: item.id, title: item.title } };
}

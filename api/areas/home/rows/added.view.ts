// Rows of new items.
import type { Knex } from 'knex';
import { type LibraryRow, type Shelf, visibleItems } from '#areas/items/public.ts';
import { baseOf } from '#platform/own-types.ts';
import { firstOfEach, keySql, onlyShown } from './cards.view.ts';
import type { Found, Placed, Reading } from './reader.ts';

/** Types that arrive, by the type of the library. */
const ARRIVES: Readonly<Record<string, readonly string[]>> = {
  movies: ['movie'],
  shows: ['episode'],
  videos: ['video'],
  music: ['track'],
  photos: ['photo', 'video'],
  books: ['book', 'audiobook'],
  comics: ['comic'],
  games: ['game'],
  courses: ['lesson'],
  files: ['file'],
};
/** Items of one shelf that are gathered into cards. */
const MOST_GATHERED = 3000;
const PER_CARD = 15;
const NEW_DAYS = 30;

const arriving = (libraries: readonly LibraryRow[]): Shelf[] =>
  libraries.flatMap((library) => (ARRIVES[baseOf(library)] ?? []).map((type) => ({ libraryId: library.id, type })));

interface Arrived {
  id: string;
  key: string;
  at: Date;
}

/** The newest items of each shelf, by its own index range, merged by their time. */
async function newest(
  reading: Reading,
  shelves: readonly Shelf[],
  narrow: (query: Knex.QueryBuilder) => void,
): Promise<Arrived[]> {
  const { db, who } = reading.call;
  if (shelves.length === 0) return [];
  const each = visibleItems(db, who)
    .whereNull('i.extra_of')
    .whereRaw('i.library_id = shelf.library_id and i.type = shelf.type')
    .modify((query) => {
      onlyShown(query, reading);
      narrow(query);
    })
    .orderByRaw('i.added_at desc nulls last, i.id')
    .limit(Math.min(MOST_GATHERED, Math.max(100, reading.limit * PER_CARD)))
    .select('i.id', 'i.added_at as at', db.raw(`${keySql('i')} as key`));
  return db
    .from(
      db.raw('unnest(?::uuid[], ?::text[]) as shelf(library_id, type)', [
        shelves.map(({ libraryId }) => libraryId),
        shelves.map(({ type }) => type),
      ]),
    )
    .joinRaw('cross join lateral ? as x', [each] as unknown as string[])
    .orderBy([{ column: 'x.at', order: 'desc' }, 'x.id'])
    .select('x.*');
}

/** Films, shows, albums and so on, by the newest item in them. */
export async function recentlyAdded(reading: Reading): Promise<Found> {
  const rows = await newest(reading, arriving(reading.libraries), (query) => {
    if (reading.row.hideWatched) query.whereRaw('not coalesce(s.watched, false)');
  });
  return { cards: firstOfEach(rows, reading.limit).map(({ key }): Placed => ({ id: key, fresh: true })) };
}

/** The newest unwatched episode of each show that the profile watches. */
export async function newEpisodes(reading: Reading): Promise<Found> {
  const { db, who } = reading.call;
  const shelves = arriving(reading.libraries).filter(({ type }) => type === 'episode');
  const known = db
    .from('item_states as own')
    .join('items as e', 'e.id', 'own.item_id')
    .where('own.profile_id', who.profileId || null)
    .whereRaw(`own.last_played_at is not null and e.type = 'episode'`)
    .select(db.raw(keySql('e')));
  const rows = await newest(reading, shelves, (query) => {
    query
      .whereRaw('i.added_at > now() - make_interval(days => ?)', [NEW_DAYS])
      .whereRaw('not coalesce(s.watched, false)')
      .whereIn(db.raw(keySql('i')) as unknown as string, known);
  });
  return { cards: firstOfEach(rows, reading.limit).map(({ id }): Placed => ({ id, fresh: true })) };
}

// Rows to continue with, from the caller's own states by their last change.
import { visibleItems } from '#areas/items/public.ts';
import { firstOfEach, keySql, ownStates } from './cards.view.ts';
import type { Found, Reading } from './reader.ts';

const WATCHED = ['movie', 'episode', 'video', 'recording', 'lesson'];
const READ = ['book', 'comic'];
const HEARD = ['audiobook'];

/** A started film leaves the row after this time. */
const BEGUN_DAYS = 180;
/** A show that stopped leaves the row after this time. */
const STOPPED_DAYS = 365;
/** Shows whose next episode is looked for. */
const MOST_SHOWS = 200;
/** Episodes played that are looked at to find these shows. */
const MOST_PLAYED = 5000;

interface Timed {
  id: string;
  key: string;
  at: Date;
}

async function begun(reading: Reading, types: readonly string[]): Promise<Timed[]> {
  const { db } = reading.call;
  const rows: Timed[] = await ownStates(reading)
    .whereRaw('s.last_played_at > now() - make_interval(days => ?)', [BEGUN_DAYS])
    .whereRaw('(s.position_ms > 0 or (s.reading is not null and not s.watched))')
    .whereRaw('i.type = any(?::text[])', [[...types]])
    .orderBy('s.last_played_at', 'desc')
    .limit(reading.limit * 4)
    .select('i.id', 's.last_played_at as at', db.raw(`${keySql('i')} as key`));
  return firstOfEach(rows, reading.limit);
}

/** The next episode of shows of which one was watched and none is in progress, by the time of the last play. */
async function upcoming(reading: Reading): Promise<Timed[]> {
  const { db, who } = reading.call;
  const played = ownStates(reading)
    .where('i.type', 'episode')
    .whereRaw('s.last_played_at > now() - make_interval(days => ?)', [STOPPED_DAYS])
    .orderBy('s.last_played_at', 'desc')
    .limit(MOST_PLAYED)
    .select('i.id', 'i.parent_index', 'i.index_number', 's.last_played_at', 's.position_ms')
    .select(db.raw(`${keySql('i')} as show_id`));
  const last = db
    .from('played')
    .select(db.raw('distinct on (show_id) *'))
    .orderByRaw('show_id, last_played_at desc, id');
  const next = visibleItems(db, who)
    .whereNull('i.extra_of')
    .whereRaw(`i.type = 'episode' and (i.grandparent_id = last.show_id or i.parent_id = last.show_id)`)
    .whereRaw('not coalesce(s.watched, false)')
    // Specials follow specials only.
    .whereRaw('(i.parent_index = 0) is not distinct from (last.parent_index = 0)')
    .whereRaw(`(coalesce(i.parent_index, 0), coalesce(i.index_number, 900000), i.id)
      >= (coalesce(last.parent_index, 0), coalesce(last.index_number, 900000), last.id)`)
    .orderByRaw('coalesce(i.parent_index, 0), coalesce(i.index_number, 900000), i.id')
    .limit(1)
    .select('i.id');
  return db
    .with('played', played)
    .with('last', last)
    .from(db.from('last').orderBy('last_played_at', 'desc').limit(MOST_SHOWS).as('last'))
    .joinRaw('cross join lateral ? as next', [next] as unknown as string[])
    .where('last.position_ms', 0) // otherwise it is in progress
    .orderBy('last.last_played_at', 'desc')
    .limit(reading.limit)
    .select('next.id', 'last.show_id as key', 'last.last_played_at as at');
}

export const continueWatching = async (reading: Reading): Promise<Found> => ({ cards: await begun(reading, WATCHED) });
export const continueReading = async (reading: Reading): Promise<Found> => ({ cards: await begun(reading, READ) });
export const continueListening = async (reading: Reading): Promise<Found> => ({ cards: await begun(reading, HEARD) });
export const nextUp = async (reading: Reading): Promise<Found> => ({ cards: await upcoming(reading) });

/** Started items and next episodes, in one order. */
export async function continueBoth(reading: Reading): Promise<Found> {
  const both = await Promise.all([begun(reading, WATCHED), upcoming(reading)]);
  const inOrder = both.flat().sort((a, b) => b.at.getTime() - a.at.getTime());
  return { cards: firstOfEach(inOrder, reading.limit) };
}

/** What the profile marked as a favourite, the newest first. */
export async function favorites(reading: Reading): Promise<Found> {
  const { row, limit } = reading;
  const query = ownStates(reading).where('s.favorite', true);
  if (row.hideWatched) query.where('s.watched', false);
  const cards = await query
    .orderByRaw('s.rated_at desc nulls last, s.updated_at desc, i.id')
    .limit(limit)
    .select('i.id');
  return { cards };
}

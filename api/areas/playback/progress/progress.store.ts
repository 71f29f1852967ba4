import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'item_states.reading': {
      value: string;
      progress: number;
      finished: boolean;
      deviceName: string | null;
      at: string;
    };
  }
}

/** State of an item for a profile. */
export interface StateRow extends Omit<Row<'item_states'>, 'profile_id' | 'library_id' | 'updated_at'> {
  updated_at: Date | null;
}

export interface Place {
  profileId: string;
  itemId: string;
  libraryId: string;
}

const COLUMNS = `item_id, position_ms, file_id, progress, watched, play_count, last_played_at, state_at, reading, rating,
  favorite, rated_at, updated_at`;

export async function findState(db: Db, profileId: string, itemId: string): Promise<StateRow | undefined> {
  return db('item_states').where({ profile_id: profileId, item_id: itemId }).first(db.raw(COLUMNS));
}

export interface PositionWrite extends Place {
  positionMs: number;
  progress: number;
  watched: boolean;
  fileId: string | null;
  /** Client time of the position. A time older than the stored one changes nothing. */
  at: Date;
  countPlay: boolean;
}

/** The newest write wins; false for an older one. The watched state is never removed. */
export async function writePosition(db: Db, write: PositionWrite): Promise<boolean> {
  const found = await db.raw<{ rows: unknown[] }>(
    `insert into item_states as s (profile_id, item_id, library_id, position_ms, file_id, progress, watched, play_count, last_played_at, state_at)
     values (:profileId, :itemId, :libraryId, :positionMs, :fileId, :progress, :watched, :plays, :at, :at)
     on conflict (profile_id, item_id) do update set
       position_ms = excluded.position_ms, file_id = coalesce(excluded.file_id, s.file_id), progress = excluded.progress,
       watched = s.watched or excluded.watched, play_count = s.play_count + excluded.play_count,
       last_played_at = greatest(s.last_played_at, excluded.last_played_at), state_at = excluded.state_at, updated_at = clock_timestamp()
     where s.state_at is null or s.state_at <= excluded.state_at
     returning item_id`,
    { ...write, plays: write.countPlay ? 1 : 0 },
  );
  return found.rows.length > 0;
}

/** Clears the item, or all visible items in a container. */
export async function forgetPositions(db: Db, who: Principal, itemId: string): Promise<void> {
  await clearPositions(db, who.profileId, await leavesOfAll(db, who, [itemId]));
}

export async function clearPositions(db: Db, profileId: string, leaves: readonly string[]): Promise<void> {
  await db('item_states')
    .where({ profile_id: profileId })
    .whereRaw('item_id = any(?::uuid[])', [[...leaves]])
    .update({
      position_ms: 0,
      progress: db.raw('case when watched then 1 else 0 end'),
      reading: null,
      state_at: new Date(),
      updated_at: db.raw('clock_timestamp()'),
    });
}

/** The items must exist. */
export async function setFavorites(
  db: Db,
  profileId: string,
  { ids, favorite }: { ids: readonly string[]; favorite: boolean },
): Promise<void> {
  await db.raw(
    `insert into item_states as s (profile_id, item_id, library_id, favorite)
     select :profileId, i.id, i.library_id, :favorite from items i where i.id = any(:ids::uuid[])
     for key share
     on conflict (profile_id, item_id) do update set favorite = excluded.favorite, updated_at = clock_timestamp()`,
    { profileId, favorite, ids: [...ids] },
  );
}

interface Mark {
  profileId: string;
  leaves: readonly string[];
  at: Date;
  countPlay: boolean;
}

/** One statement for all items. Clears positions; newer states stay. */
export async function markLeaves(db: Db, { profileId, leaves, at, countPlay }: Mark): Promise<void> {
  await db.raw(
    `insert into item_states as s (profile_id, item_id, library_id, watched, progress, play_count, last_played_at, state_at)
     select :profileId, i.id, i.library_id, true, 1, :plays, :at, :at from items i where i.id = any(:leaves::uuid[])
     for key share
     on conflict (profile_id, item_id) do update set watched = true, progress = 1, position_ms = 0, reading = null,
       play_count = s.play_count + excluded.play_count, last_played_at = greatest(s.last_played_at, excluded.last_played_at),
       state_at = excluded.state_at, updated_at = clock_timestamp()
     where s.state_at is null or s.state_at <= excluded.state_at`,
    { profileId, at, plays: countPlay ? 1 : 0, leaves: [...leaves] },
  );
}

/** Play count and history stay. */
export async function unmarkLeaves(
  db: Db,
  { profileId, leaves, at }: Pick<Mark, 'profileId' | 'leaves' | 'at'>,
): Promise<void> {
  await db('item_states')
    .where({ profile_id: profileId })
    .whereRaw('item_id = any(?::uuid[]) and (state_at is null or state_at <= ?)', [[...leaves], at])
    .update({
      watched: false,
      progress: 0,
      position_ms: 0,
      reading: null,
      state_at: at,
      updated_at: db.raw('clock_timestamp()'),
    });
}

interface RatingWrite extends Place {
  value?: number | null | undefined;
  favorite?: boolean | undefined;
}

export async function writeRating(
  db: Db,
  { profileId, itemId, libraryId, value, favorite }: RatingWrite,
): Promise<StateRow> {
  const change = {
    ...(value === undefined ? {} : { rating: value, rated_at: value === null ? null : new Date() }),
    ...(favorite === undefined ? {} : { favorite }),
    updated_at: db.raw('clock_timestamp()'),
  };
  const [row] = await db('item_states')
    .insert({ profile_id: profileId, item_id: itemId, library_id: libraryId, ...change })
    .onConflict(['profile_id', 'item_id'])
    .merge(change)
    .returning<StateRow[]>(db.raw(COLUMNS));
  if (!row) throw new Error('no row');
  return row;
}

interface ReadingWrite extends Place {
  reading: NonNullable<StateRow['reading']>;
  /** Without a file the stored one stays. */
  fileId: string | null;
  at: Date;
}

/** The end marks the item as watched, and turning back later does not unmark it. False for an older write. */
export async function writeReading(
  db: Db,
  { profileId, itemId, libraryId, reading, fileId, at }: ReadingWrite,
): Promise<boolean> {
  const found = await db.raw<{ rows: unknown[] }>(
    `insert into item_states as s (profile_id, item_id, library_id, file_id, reading, progress, watched, last_played_at, state_at)
     values (:profileId, :itemId, :libraryId, :fileId, :reading, :progress, :finished, :at, :at)
     on conflict (profile_id, item_id) do update set reading = excluded.reading,
       file_id = coalesce(excluded.file_id, s.file_id), progress = excluded.progress,
       watched = s.watched or excluded.watched, last_played_at = excluded.last_played_at, state_at = excluded.state_at, updated_at = clock_timestamp()
     where s.state_at is null or s.state_at <= excluded.state_at
     returning item_id`,
    {
      profileId,
      itemId,
      libraryId,
      fileId,
      at,
      reading: JSON.stringify(reading),
      progress: reading.progress,
      finished: reading.finished,
    },
  );
  return found.rows.length > 0;
}

/** Types that hold others; only their descendants play. */
export const CONTAINERS = [
  'show',
  'season',
  'artist',
  'album',
  'author',
  'comic-series',
  'course',
  'section',
  'photo-album',
];

interface Below {
  itemId: string;
  most: number;
  /** Ids after this one. */
  after?: string | undefined;
}

/** Playable items that the caller may see: all of the containers without extras, or the items themselves. */
function selectLeaves(db: Db, who: Principal, ids: readonly string[]): Knex.QueryBuilder {
  const whole =
    '(i.id = any(?::uuid[]) or i.extra_of is null and (i.parent_id = any(?::uuid[]) or i.grandparent_id = any(?::uuid[])))';
  return db('items as i')
    .whereRaw(whole, [[...ids], [...ids], [...ids]])
    .whereNotIn('i.type', CONTAINERS)
    .modify(onlyVisibleItems, who, 'i');
}

/** Their ids, at most one more than `most`. */
export async function leavesOf(db: Db, who: Principal, { itemId, most, after }: Below): Promise<string[]> {
  const query = selectLeaves(db, who, [itemId])
    .orderBy('i.id')
    .limit(most + 1)
    .select<{ id: string }[]>('i.id');
  if (after) query.where('i.id', '>', after);
  return (await query).map((row) => row.id);
}

/** Ids of the playable items in any of these items. */
export async function leavesOfAll(db: Db, who: Principal, ids: readonly string[]): Promise<string[]> {
  return (await selectLeaves(db, who, ids).pluck('i.id')) as string[];
}

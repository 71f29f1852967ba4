import { getVisibleItem, nextUp, type VisibleItem } from '#areas/items/public.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { ItemProgress } from './progress.schemas.ts';
import { CONTAINERS, findState, type StateRow, writePosition } from './progress.store.ts';
import { readingOf } from './reading.view.ts';

const SHORTEST_MS = 60_000;
const SHORTEST_PART = 0.02;
const LONG_TRACK_MS = 20 * 60_000;

/** Types that keep every position. Film and television keep none from the first minute. */
const KEEPS_ANY = ['audiobook', 'lesson'];
const FILM = ['movie', 'episode', 'video', 'recording'];

export function keepsPosition(item: { type: string; runtimeMs: number | null }): boolean {
  if (item.type === 'track') return (item.runtimeMs ?? 0) > LONG_TRACK_MS;
  return FILM.includes(item.type) || KEEPS_ANY.includes(item.type);
}

export interface Reading {
  item: VisibleItem;
  positionMs: number;
  durationMs: number;
  fileId: string | null;
  at: Date;
  /** This session has not counted a play yet. */
  mayCount: boolean;
  /** Position and duration are those of the file, which may be a part of the film. */
  ofFile?: boolean;
  /** The profile of the position, when another profile of the account reports it. */
  profileId?: string;
}

/** Stores a position. An early position is not kept, and one past the threshold marks the item as watched. */
export async function recordPosition(call: Call, reading: Reading): Promise<{ written: boolean; counted: boolean }> {
  const { db, who, now, deps } = call;
  const { item, positionMs, durationMs, mayCount } = reading;
  const percent = deps.settings.get('playback.watchedPercent');
  const end = await watchedFromMs(db, reading, percent);
  const part = await partOf(db, reading);
  const watched = durationMs > 0 && positionMs >= end && part.last;
  const kept = watched ? 0 : keptPosition(reading);
  const written = await writePosition(db, {
    profileId: reading.profileId ?? who.profileId,
    itemId: item.id,
    libraryId: item.libraryId,
    positionMs: kept,
    progress: watched ? 1 : shareOf(kept, part),
    watched,
    fileId: reading.fileId,
    at: reading.at > now ? now : reading.at, // a future time counts as now
    countPlay: watched && mayCount,
  });
  return { written, counted: written && watched && mayCount };
}

interface Part {
  beforeMs: number;
  wholeMs: number;
  last: boolean;
}

/** 0 when the length is unknown. */
function shareOf(keptMs: number, { beforeMs, wholeMs }: Part): number {
  return wholeMs > 0 ? Math.min(1, (keptMs + beforeMs) / wholeMs) : 0;
}

/** Place of a file in a film of several files. A single file is its own last part. */
async function partOf(db: Db, { item, fileId, durationMs, ofFile }: Reading): Promise<Part> {
  const rows = ofFile && fileId ? await partsOf(db, { itemId: item.id, fileId }) : [];
  const at = rows.findIndex(({ id }) => id === fileId);
  if (at < 0) return { beforeMs: 0, wholeMs: durationMs, last: true };
  const sum = (some: typeof rows): number => some.reduce((total, row) => total + (row.duration_ms ?? 0), 0);
  return { beforeMs: sum(rows.slice(0, at)), wholeMs: sum(rows), last: at === rows.length - 1 };
}

async function partsOf(
  db: Db,
  { itemId, fileId }: { itemId: string; fileId: string },
): Promise<{ id: string; duration_ms: number | null }[]> {
  return db('media_files as f')
    .joinRaw('join media_files m on m.item_id = f.item_id and m.edition is not distinct from f.edition')
    .where({ 'f.id': fileId, 'f.item_id': itemId, 'm.ignored': false })
    .where('f.parts', '>', 1)
    .orderBy('m.part')
    .select('m.id', 'm.duration_ms');
}

function keptPosition({ item, positionMs, durationMs }: Reading): number {
  if (!keepsPosition(item)) return 0;
  const early = positionMs < SHORTEST_MS || positionMs < durationMs * SHORTEST_PART;
  return FILM.includes(item.type) && early ? 0 : positionMs;
}

/** The configured share of the duration, or the start of the last credits of this file, whichever is earlier. */
async function watchedFromMs(db: Db, { item, durationMs, fileId }: Reading, percent: number): Promise<number> {
  const credits = await db('markers')
    .where({ item_id: item.id, kind: 'credits' })
    .whereRaw('(file_id is null or file_id = coalesce(?::uuid, file_id))', [fileId])
    .orderBy('start_ms', 'desc')
    .first('start_ms');
  return Math.min((durationMs * percent) / 100, credits?.start_ms ?? Infinity);
}

/** The position of an item, or the counts of a container. */
export async function readProgress(call: Call, itemId: string): Promise<ItemProgress> {
  const { db, who } = call;
  const item = await getVisibleItem(db, who, itemId);
  if (item.container) return progressOf(call, item);
  const own = await findState(db, who.profileId, itemId);
  const reading = await readingOf(db, item, own);
  return { ...toProgress(item, own), ...(reading && { reading }) };
}

/** Progress of a container: the position in the next child, or complete without a next child. */
async function progressOf(call: Call, item: VisibleItem): Promise<ItemProgress> {
  const { db, who } = call;
  const next = await nextUp(db, who, item.id);
  const counted = await countChildren(call, item.id);
  const { total } = counted;
  const state = next && (await findState(db, who.profileId, next.id));
  const watched = total > 0 && counted.watched === total;
  return {
    ...toProgress({ ...item, runtimeMs: next?.runtimeMs ?? null }, state),
    watched,
    ...(watched && { progress: 1 }),
    children: { ...counted, ...(next && { nextItemId: next.id }) },
  };
}

const UNTOUCHED = {
  position_ms: 0,
  progress: 0,
  file_id: null,
  watched: false,
  play_count: 0,
  last_played_at: null,
  updated_at: null,
};

export function toProgress(item: VisibleItem, state: StateRow | undefined): ItemProgress {
  const row = state ?? UNTOUCHED;
  return {
    itemId: item.id,
    type: item.type,
    positionMs: row.position_ms,
    durationMs: item.runtimeMs,
    progress: row.progress,
    fileId: row.file_id,
    watched: row.watched,
    playCount: row.play_count,
    lastPlayedAt: iso(row.last_played_at),
    updatedAt: iso(row.updated_at),
  };
}

async function countChildren(
  { db, who }: Call,
  id: string,
): Promise<{ total: number; watched: number; inProgress: number }> {
  const [counted] = await db('items as i')
    .joinRaw('left join item_states s on s.item_id = i.id and s.profile_id = ?', [who.profileId])
    .whereRaw('(i.parent_id = ? or i.grandparent_id = ?)', [id, id])
    .modify(onlyVisibleItems, who, 'i')
    .whereNull('i.extra_of')
    .whereNotIn('i.type', CONTAINERS)
    .select<{ total: number; watched: number; inProgress: number }[]>(
      db.raw(`count(*)::int as total, count(*) filter (where s.watched)::int as watched,
        count(*) filter (where s.progress > 0 and not s.watched)::int as "inProgress"`),
    );
  return counted ?? { total: 0, watched: 0, inProgress: 0 };
}

/** True for items that play over time. */
export function isTimed(item: VisibleItem): boolean {
  return !item.container && (FILM.includes(item.type) || KEEPS_ANY.includes(item.type) || item.type === 'track');
}

/** Throws 409 for an item that does not play over time, and 400 for a position beyond the end. */
export function refuseBadPosition(item: VisibleItem, positionMs: number): void {
  if (!isTimed(item)) throw conflict('not-playable-item', 'This has no position');
  if (item.runtimeMs !== null && positionMs > item.runtimeMs + 1000) {
    throw invalid(['body', 'positionMs'], 'too_big', 'the position is beyond the end');
  }
}

/** Throws 400 for a file of another item: responses repeat the stored id, also to callers who may not see that file. */
export async function refuseForeignFile({ db }: Call, itemId: string, fileId: string | undefined): Promise<void> {
  if (fileId === undefined) return;
  const own = await db('media_files').where({ id: fileId, item_id: itemId }).first('id');
  if (!own) throw invalid(['body', 'fileId'], 'unknown_file', 'the item has no such file');
}

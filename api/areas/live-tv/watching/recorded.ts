// The parts of a recording as an HLS list that grows from its beginning.
import { setTimeout as sleep } from 'node:timers/promises';
import { countSent, sendObject } from '#areas/streaming/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { listParts, PARTS_BUCKET, partKey, partsTrack } from '#platform/live/parts.ts';
import { findFacts, findRecorded } from '#platform/live/recorded.store.ts';
import { type LiveSegment, segmentEnd } from '#platform/live/segments.ts';
import type { ProbedStream } from '#platform/media.ts';
import { keepAlive, type LiveRow } from './access.ts';
import { IMMUTABLE } from './fragments.ts';
import { recordedPlaylist } from './playlist.ts';
import type { PlaylistQuery } from './watching.schemas.ts';

const FIRST_PART_MS = 20_000;
const LOOK_MS = 500;
/** A list of the store is used for so long: players request many parts of one list. */
const FRESH_MS = 1500;
const MOST_LISTS = 200;
/** An encoder ends its last part at a frame. */
const SLACK_MS = 1500;

export const late = (): ApiError =>
  new ApiError('TRANSCODE_LIMIT_REACHED', 'The segment was not received in time', { retryAfterSec: 1 });

const lists = new Map<string, { at: number; parts: Promise<LiveSegment[]> }>();

const trackOf = ({ live: { recordingId = '', rendition } }: LiveRow): string => partsTrack(recordingId, rendition);

/** The parts of a track, at most as old as that. */
async function partsOf({ deps }: Call, track: string, maxAgeMs = FRESH_MS): Promise<LiveSegment[]> {
  const known = lists.get(track);
  if (known && Date.now() - known.at < maxAgeMs) return known.parts;
  if (lists.size >= MOST_LISTS) lists.clear();
  const parts = listParts(deps, track);
  lists.set(track, { at: Date.now(), parts });
  parts.catch(() => lists.delete(track));
  return parts;
}

/** The list of a session, once it has a part: a rendition is encoded from the beginning. Throws 503 when none comes in time. */
export async function growingList(call: Call, row: LiveRow, { ticket }: PlaylistQuery): Promise<string> {
  await keepAlive(call, row);
  const { startMs, recordingId = '' } = row.live;
  // Before the list is read, so that a list with an end lacks no part.
  const recorded = await findRecorded(call.deps.db, recordingId);
  if (!recorded) throw notFound();
  const parts = await firstParts(call, trackOf(row));
  const isOver = recorded.isOver && (await isWhole(call, row, parts));
  return recordedPlaylist(parts, { startMs, isOver, ticket });
}

async function firstParts(call: Call, track: string): Promise<LiveSegment[]> {
  for (const end = Date.now() + FIRST_PART_MS; ; ) {
    const parts = await partsOf(call, track, LOOK_MS);
    if (parts.length > 0) return parts;
    if (Date.now() > end || call.signal.aborted) throw late();
    await sleep(LOOK_MS);
  }
}

/** Whether a rendition has reached the last part that was received. */
async function isWhole(call: Call, { live }: LiveRow, parts: readonly LiveSegment[]): Promise<boolean> {
  if (live.rendition === 'source') return true;
  const source = await partsOf(call, partsTrack(live.recordingId ?? '', 'source'), LOOK_MS);
  const [made, received] = [parts.at(-1), source.at(-1)];
  return received === undefined || (made !== undefined && segmentEnd(made) >= segmentEnd(received) - SLACK_MS);
}

/** A part by its number. Throws 404 for one that is not stored. */
export async function sendPart(call: Call, row: LiveRow, name: string): Promise<Bytes> {
  const sequence = Number(/^(\d{1,12})\.ts$/.exec(name)?.[1] ?? Number.NaN);
  const track = trackOf(row);
  const find = (parts: readonly LiveSegment[]): LiveSegment | undefined =>
    parts.find((one) => one.sequence === sequence);
  const part = find(await partsOf(call, track, Number.POSITIVE_INFINITY)) ?? find(await partsOf(call, track));
  if (!part) throw notFound();
  const key = partKey(track, part);
  const sent = await sendObject(call, { bucket: PARTS_BUCKET, key, type: 'video/mp2t', cacheControl: IMMUTABLE });
  return countSent(call, row.id, sent);
}

/** What the tuner found in the parts as they were received. */
export async function recordedFacts(call: Call, { live }: LiveRow): Promise<ProbedStream[] | undefined> {
  return findFacts(call.deps.db, await partsOf(call, partsTrack(live.recordingId ?? '', 'source')));
}

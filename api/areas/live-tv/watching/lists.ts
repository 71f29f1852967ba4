import { countSent, sendObject } from '#areas/streaming/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { arrivalsOf } from '#platform/arrivals.ts';
import { renditionTrack } from '#platform/live/renditions.store.ts';
import { type LiveSegment, listSegments, liveNews, segmentKey } from '#platform/live/segments.ts';
import { findOpenStream } from '#platform/live/streams.store.ts';
import { keepAlive, type LiveRow } from './access.ts';
import { withinAge } from './age.ts';
import { liveMaster } from './master.ts';
import { livePlaylist, targetOf, windowOf } from './playlist.ts';
import { IMMUTABLE, late, recordedFacts } from './recorded.ts';
import type { PlaylistQuery } from './watching.schemas.ts';

const FIRST_SEGMENT_MS = 20_000;
const NOT_MADE_MS = 6000;

export const PLAYLIST = 'application/vnd.apple.mpegurl';

/** Where the segments of the session's rendition are. */
const trackOf = (row: LiveRow): string => renditionTrack(row.item_id, row.live.rendition);

/** The segments of a session that its viewer may see. */
async function segmentsOf(call: Call, row: LiveRow): Promise<LiveSegment[]> {
  const segments = await listSegments(call.deps, trackOf(row));
  return withinAge(call.deps.db, call.who, { channelId: row.item_id, segments });
}

/** Looks at each news of the channel until `ready`, or until the time is over. */
async function segmentsWhen(
  call: Call,
  row: LiveRow,
  { ready, limitMs }: { ready: (segments: LiveSegment[]) => boolean; limitMs: number },
): Promise<{ segments: LiveSegment[]; inTime: boolean }> {
  const arrivals = arrivalsOf(call.deps.redis);
  const channel = liveNews(trackOf(row));
  const silence = await arrivals.listen(channel);
  try {
    for (const end = Date.now() + limitMs; ; ) {
      const heard = arrivals.heard(channel);
      const segments = await segmentsOf(call, row);
      if (ready(segments)) return { segments, inTime: true };
      if (Date.now() > end || call.signal.aborted) return { segments, inTime: false };
      await arrivals.next(channel, { heard, gone: call.signal });
    }
  } finally {
    silence();
  }
}

/** The playlist of a rendition, once the wanted segment is there. Throws 503 when it does not come in time. */
export async function playlistOf(call: Call, row: LiveRow, query: PlaylistQuery): Promise<string> {
  await keepAlive(call, row);
  const wanted = query._HLS_msn;
  const known = windowOf(await segmentsOf(call, row), query.window);
  const limitMs = wanted === undefined ? FIRST_SEGMENT_MS : targetOf(known) * 3000;
  const ready = (segments: readonly LiveSegment[]): boolean =>
    wanted === undefined ? segments.length > 0 : (segments.at(-1)?.sequence ?? -1) >= wanted;
  const { segments, inTime } = await segmentsWhen(call, row, { ready, limitMs });
  if (!inTime) throw late();
  const skip = query._HLS_skip !== undefined;
  const options = { window: query.window, skip, ticket: query.ticket, startMs: row.live.startMs };
  return livePlaylist(windowOf(segments, query.window), options);
}

/** The master playlist of a session. */
export async function masterOf(call: Call, row: LiveRow, ticket: string | undefined): Promise<string> {
  const isRecorded = row.live.recordingId !== undefined;
  const facts = isRecorded ? await recordedFacts(call, row) : (await findOpenStream(call.deps.db, row.item_id))?.facts;
  const video = facts?.find(({ kind }) => kind === 'video');
  return liveMaster(row, video?.codecString, ticket);
}

/** A segment by its number: at once when it is stored, else when it was received. Throws 404 for one out of the buffer. */
export async function sendLiveSegment(call: Call, row: LiveRow, name: string): Promise<Bytes> {
  const [, digits] = /^(\d{1,12})\.ts$/.exec(name) ?? [];
  if (digits === undefined) throw notFound();
  const sequence = Number(digits);
  const find = (segments: readonly LiveSegment[]): LiveSegment | undefined =>
    segments.find((one) => one.sequence === sequence);
  const isPast = (segments: readonly LiveSegment[]): boolean => (segments.at(-1)?.sequence ?? -1) >= sequence;
  const { segments } = await segmentsWhen(call, row, { ready: isPast, limitMs: NOT_MADE_MS });
  const segment = find(segments);
  if (!segment) throw notFound();
  const key = segmentKey(trackOf(row), segment);
  const sent = await sendObject(call, { bucket: 'foyer-live', key, type: 'video/mp2t', cacheControl: IMMUTABLE });
  return countSent(call, row.id, sent);
}

export function playlistAnswer(call: Call, text: string): Bytes {
  call.reply.header('Cache-Control', 'no-store');
  return { body: text, type: PLAYLIST, length: Buffer.byteLength(text) };
}

import { countSent, sendObject } from '#areas/streaming/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { arrivalsOf } from '#platform/arrivals.ts';
import { FRAGMENTS } from '#platform/live/fragments.ts';
import { renditionTrack } from '#platform/live/renditions.store.ts';
import { type LiveSegment, listSegments, liveNews, segmentKey } from '#platform/live/segments.ts';
import { findOpenStream } from '#platform/live/streams.store.ts';
import { keepAlive, type LiveRow } from './access.ts';
import { withinAge } from './age.ts';
import { captionSegment, isCaptions } from './captions.ts';
import { IMMUTABLE, initName, initSource, sendFragments } from './fragments.ts';
import { liveMaster } from './master.ts';
import { livePlaylist, targetOf, windowOf } from './playlist.ts';
import { late, recordedFacts } from './recorded.ts';
import type { PlaylistQuery } from './watching.schemas.ts';

const FIRST_SEGMENT_MS = 20_000;
const NOT_MADE_MS = 6000;

export const PLAYLIST = 'application/vnd.apple.mpegurl';

/** A rendition of a session: the one that was decided, or captions of the channel. */
export interface Rendition {
  row: LiveRow;
  name: string;
}

/** Throws 404 for another rendition than those of the master playlist: a recording has its captions once it is a file. */
export function renditionOf(row: LiveRow, name: string): Rendition {
  const hasCaptions = row.live.recordingId === undefined && isCaptions(name);
  if (name !== row.live.rendition && !hasCaptions) throw notFound();
  return { row, name };
}

/** Where its segments are; captions have those of the source. */
const trackOf = ({ row, name }: Rendition): string => renditionTrack(row.item_id, isCaptions(name) ? 'source' : name);

/** The segments that the viewer may see. */
async function segmentsOf(call: Call, rendition: Rendition): Promise<LiveSegment[]> {
  const segments = await listSegments(call.deps, trackOf(rendition));
  return withinAge(call.deps.db, call.who, { channelId: rendition.row.item_id, segments });
}

/** Looks at each news of the channel until `ready`, or until the time is over. */
async function segmentsWhen(
  call: Call,
  rendition: Rendition,
  { ready, limitMs }: { ready: (segments: LiveSegment[]) => boolean; limitMs: number },
): Promise<{ segments: LiveSegment[]; inTime: boolean }> {
  const arrivals = arrivalsOf(call.deps.redis);
  const channel = liveNews(trackOf(rendition));
  const silence = await arrivals.listen(channel);
  try {
    for (const end = Date.now() + limitMs; ; ) {
      const heard = arrivals.heard(channel);
      const segments = await segmentsOf(call, rendition);
      if (ready(segments)) return { segments, inTime: true };
      if (Date.now() > end || call.signal.aborted) return { segments, inTime: false };
      await arrivals.next(channel, { heard, gone: call.signal });
    }
  } finally {
    silence();
  }
}

/** The playlist of a rendition, once the wanted segment is there. Throws 503 when it does not come in time. */
export async function playlistOf(call: Call, rendition: Rendition, query: PlaylistQuery): Promise<string> {
  const { row, name } = rendition;
  await keepAlive(call, row);
  const wanted = query._HLS_msn;
  const known = windowOf(await segmentsOf(call, rendition), query.window);
  const limitMs = wanted === undefined ? FIRST_SEGMENT_MS : targetOf(known) * 3000;
  const ready = (segments: readonly LiveSegment[]): boolean =>
    wanted === undefined ? segments.length > 0 : (segments.at(-1)?.sequence ?? -1) >= wanted;
  const { segments, inTime } = await segmentsWhen(call, rendition, { ready, limitMs });
  if (!inTime) throw late();
  const skip = query._HLS_skip !== undefined;
  const suffix = suffixOf(name);
  const inits = suffix === 'm4s' && { initOf: initName };
  const options = { window: query.window, skip, ticket: query.ticket, startMs: row.live.startMs, suffix, ...inits };
  return livePlaylist(windowOf(segments, query.window), options);
}

function suffixOf(rendition: string): 'ts' | 'vtt' | 'm4s' {
  if (isCaptions(rendition)) return 'vtt';
  return rendition === FRAGMENTS ? 'm4s' : 'ts';
}

/** The master playlist of a session. */
export async function masterOf(call: Call, row: LiveRow, ticket: string | undefined): Promise<string> {
  const { recordingId } = row.live;
  const stream = recordingId === undefined ? await findOpenStream(call.deps.db, row.item_id) : undefined;
  const facts = recordingId === undefined ? stream?.facts : await recordedFacts(call, row);
  const video = facts?.find(({ kind }) => kind === 'video');
  return liveMaster(row, { videoCodec: video?.codecString, captions: stream?.captions }, ticket);
}

/** A segment by its number: at once when it is stored, else when it was received. Throws 404 for one out of the buffer. */
export async function sendLiveSegment(call: Call, rendition: Rendition, file: string): Promise<Bytes> {
  if (rendition.name === FRAGMENTS && file.startsWith('init')) return sendInit(call, rendition, file);
  const [, digits, suffix] = /^(\d{1,12})\.(ts|vtt|m4s)$/.exec(file) ?? [];
  if (digits === undefined || suffix !== suffixOf(rendition.name)) throw notFound();
  const segment = await segmentAt(call, rendition, Number(digits));
  if (suffix === 'vtt') return captionsAnswer(call, rendition, segment);
  const key = segmentKey(trackOf(rendition), segment);
  if (suffix === 'm4s')
    return sendFragments(call, { sessionId: rendition.row.id, key, part: 'fragment', cacheControl: IMMUTABLE });
  const sent = await sendObject(call, { bucket: 'foyer-live', key, type: 'video/mp2t', cacheControl: IMMUTABLE });
  return countSent(call, rendition.row.id, sent);
}

async function sendInit(call: Call, rendition: Rendition, file: string): Promise<Bytes> {
  const segment = initSource(await segmentsOf(call, rendition), file);
  if (!segment) throw notFound();
  const key = segmentKey(trackOf(rendition), segment);
  const cacheControl = file === 'init.mp4' ? 'no-store' : IMMUTABLE; // another one is the newest later
  return sendFragments(call, { sessionId: rendition.row.id, key, part: 'init', cacheControl });
}

async function segmentAt(call: Call, rendition: Rendition, sequence: number): Promise<LiveSegment> {
  const isPast = (segments: readonly LiveSegment[]): boolean => (segments.at(-1)?.sequence ?? -1) >= sequence;
  const { segments } = await segmentsWhen(call, rendition, { ready: isPast, limitMs: NOT_MADE_MS });
  const segment = segments.find((one) => one.sequence === sequence);
  if (!segment) throw notFound();
  return segment;
}

async function captionsAnswer(call: Call, { row, name }: Rendition, segment: LiveSegment): Promise<Bytes> {
  const body = await captionSegment(call.deps, { channelId: row.item_id, segment, rendition: name });
  call.reply.header('Cache-Control', IMMUTABLE);
  return { body, type: 'text/vtt', length: Buffer.byteLength(body) };
}

export function playlistAnswer(call: Call, text: string): Bytes {
  call.reply.header('Cache-Control', 'no-store');
  return { body: text, type: PLAYLIST, length: Buffer.byteLength(text) };
}

import type { Bytes, Call } from '#kernel/endpoint.ts';
import { firstBytes } from '#platform/bytes.ts';
import { readMedia } from '#platform/media-bytes.ts';
import { ObjectMissing } from '#platform/objects.ts';
import type { Cue } from '#platform/subtitles/cues.ts';
import { findSync, type Sync } from '#platform/subtitles/syncs.ts';
import { AS_MADE, timedCues } from '#platform/subtitles/timing.ts';
import { openSidecar } from '../files/sources.ts';
import type { SubtitleRendition } from '../segments/plan.ts';
import { segmentOf } from '../segments/segments.ts';
import { waitUntil } from '../segments/waiting.ts';
import { announceWant, offerSession } from '../sessions/offers.store.ts';
import { type SessionRow, wakeSession } from '../sessions/sessions.store.ts';
import { readCues } from './cue-reader.ts';
import { textTrackKey, vttSegment } from './text-tracks.ts';

const LARGEST = 20 * 2 ** 20;

/** Recently used cues at their corrected times, by track and correction, because players read segments in sequence. */
const recent = new Map<string, readonly Cue[]>();
const RECENT = 32;

/** A subtitle segment, made in this process without an encoder. */
export async function sendTextSegment(
  call: Call,
  row: SessionRow,
  { rendition, name, version }: { rendition: string; name: string; version?: string | undefined },
): Promise<Bytes> {
  const n = segmentOf(row, rendition, name);
  const track = row.plan.subtitles.find((one) => one.id === rendition) as SubtitleRendition;
  const sync = await findSync(call.db, track.streamId);
  const text = vttSegment(row.plan, n, await cuesOf(call, row, { track, sync }));
  const isCurrent = version === sync?.version;
  call.reply.header('Cache-Control', isCurrent ? 'private, max-age=3600' : 'private, no-cache');
  return { body: text, type: 'text/vtt; charset=utf-8', length: Buffer.byteLength(text) };
}

/** A track of the plan with its correction. */
interface Corrected {
  track: SubtitleRendition;
  /** Absent when the track is gone. */
  sync: Sync | undefined;
}

async function cuesOf(call: Call, row: SessionRow, { track, sync }: Corrected): Promise<readonly Cue[]> {
  const key = `${row.file_id} ${row.plan.source.version} ${track.streamId} ${sync?.version}`;
  const known = track.keptKey && !sync ? [] : recent.get(key);
  if (known) return known;
  const cues = timedCues(await madeCues(call, row, track), sync ?? AS_MADE);
  recent.set(key, cues);
  const [oldest] = recent.keys();
  if (recent.size > RECENT && oldest) recent.delete(oldest);
  return cues;
}

/** The cues of a track at its own times. */
async function madeCues(call: Call, row: SessionRow, track: SubtitleRendition): Promise<Cue[]> {
  if (track.keptKey) return readCues((await storedText(call, track.keptKey)) ?? new Uint8Array(), track);
  return track.externalPath ? cuesOfSidecar(call, row, track) : cuesOfEmbedded(call, row, track);
}

async function cuesOfSidecar(call: Call, row: SessionRow, track: SubtitleRendition): Promise<Cue[]> {
  const file = await openSidecar(call, { fileId: row.file_id, path: track.externalPath ?? '' });
  if (file.size > LARGEST) return [];
  return readCues(await readMedia(file.absolute), track);
}

/** A worker extracts an embedded track once; the request waits until it is stored. */
async function cuesOfEmbedded(call: Call, row: SessionRow, track: SubtitleRendition): Promise<Cue[]> {
  const key = textTrackKey(row.plan.source, track.streamIndex ?? -1);
  const bytes = await waitUntil(call, row.id, {
    look: () => storedText(call, key),
    onMiss: () => wakeWorker(call, row.id, track.id),
  });
  return readCues(bytes, { format: track.format });
}

async function storedText(call: Call, key: string): Promise<Uint8Array | undefined> {
  try {
    return await firstBytes(await call.deps.objects.get('foyer-subtitles', key), LARGEST);
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  }
}

async function wakeWorker({ db, deps }: Call, id: string, rendition: string): Promise<void> {
  if (await wakeSession(db, id)) await offerSession(deps.redis, id);
  else await announceWant(deps.redis, id, { rendition, segment: -1 });
}

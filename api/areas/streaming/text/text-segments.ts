import { readFile } from 'node:fs/promises';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { firstBytes } from '#platform/bytes.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { openSidecar } from '../files/sources.ts';
import type { SubtitleRendition } from '../segments/plan.ts';
import { segmentOf } from '../segments/segments.ts';
import { waitUntil } from '../segments/waiting.ts';
import { announceWant, offerSession } from '../sessions/offers.store.ts';
import { type SessionRow, wakeSession } from '../sessions/sessions.store.ts';
import { readCues } from './cue-reader.ts';
import type { Cue } from './cues.ts';
import { textTrackKey, vttSegment } from './text-tracks.ts';

const LARGEST = 20 * 2 ** 20;

/** Recently used cues, by track, because players read segments in sequence. */
const recent = new Map<string, Cue[]>();
const RECENT = 32;

/** A subtitle segment, made in this process without an encoder. */
export async function sendTextSegment(
  call: Call,
  row: SessionRow,
  { rendition, name }: { rendition: string; name: string },
): Promise<Bytes> {
  const n = segmentOf(row, rendition, name);
  const track = row.plan.subtitles.find((one) => one.id === rendition) as SubtitleRendition;
  const text = vttSegment(row.plan, n, await cuesOf(call, row, track));
  call.reply.header('Cache-Control', 'private, max-age=3600');
  return { body: text, type: 'text/vtt; charset=utf-8', length: Buffer.byteLength(text) };
}

async function cuesOf(call: Call, row: SessionRow, track: SubtitleRendition): Promise<Cue[]> {
  const key = `${row.file_id} ${row.plan.source.version} ${track.externalPath ?? track.streamIndex}`;
  const known = recent.get(key);
  if (known) return known;
  const cues = track.externalPath ? await cuesOfSidecar(call, row, track) : await cuesOfEmbedded(call, row, track);
  recent.set(key, cues);
  const [oldest] = recent.keys();
  if (recent.size > RECENT && oldest) recent.delete(oldest);
  return cues;
}

async function cuesOfSidecar(call: Call, row: SessionRow, track: SubtitleRendition): Promise<Cue[]> {
  const file = await openSidecar(call, { fileId: row.file_id, path: track.externalPath ?? '' });
  if (file.size > LARGEST) return [];
  return readCues(await readFile(file.absolute), track);
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

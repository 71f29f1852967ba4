// When the lines of a subtitle track are shown, in the track's own times.
import { openMedia } from '#areas/storage/public.ts';
import {
  type Cue,
  type FileSource,
  findTrackPlace,
  keptKey,
  readCues,
  TEXT_CODECS,
  textTrackKey,
  versionOf,
} from '#areas/streaming/public.ts';
import type { getSubtitleRow } from '#areas/subtitles/public.ts';
import { firstBytes } from '#platform/bytes.ts';
import { readMedia } from '#platform/media-bytes.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { Unsure } from '../../probe/fault.ts';
import type { Work } from '../../work.ts';
import { showsPicture } from '../display-sets.ts';
import { readPictures } from '../pictures-job.ts';
import { BUCKET, takeOutTexts } from '../take-out.ts';
import { MOST_OFFSET_MS, type Span } from './correlate.ts';

export type SubtitleRow = Awaited<ReturnType<typeof getSubtitleRow>>;

/** The film of a track. */
export interface TrackFilm extends FileSource {
  probe: NonNullable<FileSource['probe']>;
}

/** Why a track has no times. */
export type NoCues = 'storage' | 'no-cues';

const LARGEST = 20 << 20;

/** A text for another frame rate ends so much later than its film, and one that is out of time so much again. */
const LONGER = 1.05;

/** The spans of all lines, in order. Those far behind the end of the film are left out. */
export async function cuesOfTrack(film: TrackFilm, row: SubtitleRow, work: Work): Promise<Span[] | NoCues> {
  const spans = await allSpans(film, row, work);
  return typeof spans === 'string' ? spans : within(spans, film.durationMs * LONGER + MOST_OFFSET_MS);
}

/** The spans that begin before a time, and none ends after it: memory is used for all the time that they cover. */
export const within = (spans: readonly Span[], lastMs: number): Span[] =>
  spans
    .filter(({ startMs }) => startMs < lastMs)
    .map(({ startMs, endMs }) => ({ startMs, endMs: Math.min(endMs, lastMs) }));

async function allSpans(film: TrackFilm, row: SubtitleRow, work: Work): Promise<Span[] | NoCues> {
  if (!TEXT_CODECS.includes(row.codec)) return pictureSpans(film, row, work);
  const cues = await textCuesOf(film, row, work);
  if (typeof cues === 'string') return cues;
  return cues
    .map(({ startMs, endMs }) => ({ startMs, endMs }))
    .filter(({ startMs, endMs }) => endMs > startMs)
    .sort((a, b) => a.startMs - b.startMs);
}

/** The cues of a text track, in the track's own times. */
export async function textCuesOf(film: TrackFilm, row: SubtitleRow, work: Work): Promise<readonly Cue[] | NoCues> {
  const bytes = await textOf(film, row, work);
  if (typeof bytes === 'string') return bytes;
  return readCues(bytes, {
    format: row.codec,
    ...(row.external_path && row.language && { language: row.language }),
  });
}

type Text = Uint8Array | NoCues;

function textOf(film: TrackFilm, row: SubtitleRow, work: Work): Promise<Text> {
  if (row.kept) return keptText(row, work);
  if (row.external_path !== null) return sidecarText(film, row.external_path, work);
  return embeddedText(film, row, work);
}

async function keptText(row: SubtitleRow, work: Work): Promise<Text> {
  const kept = await work.db('kept_subtitles').where({ stream_id: row.id }).first('sha256');
  return (kept && (await stored(work, keptKey(kept.sha256)))) ?? 'no-cues';
}

async function sidecarText(film: TrackFilm, path: string, work: Work): Promise<Text> {
  const place = await findTrackPlace(work.db, { fileId: film.id, path });
  const file = place && (await openMedia(work, place));
  if (file?.kind !== 'there') return 'storage';
  return file.size > LARGEST ? 'no-cues' : readMedia(file.absolute);
}

/** A text inside the film is extracted if it is not stored yet. */
async function embeddedText(film: TrackFilm, row: SubtitleRow, work: Work): Promise<Text> {
  const version = versionOf(film);
  const key = textTrackKey({ fileId: film.id, version }, row.stream_index);
  const known = await stored(work, key);
  if (known) return known;
  const place = await openMedia(work, film);
  if (place.kind !== 'there') return 'storage';
  const { container, startMs } = film.probe;
  const source = { fileId: film.id, version, container, startMs, file: place.absolute };
  try {
    await takeOutTexts(source, [{ index: row.stream_index, format: row.codec }], work);
  } catch {
    work.signal.throwIfAborted();
  }
  return (await stored(work, key)) ?? 'no-cues';
}

async function stored({ objects }: Work, key: string): Promise<Buffer | undefined> {
  try {
    return await firstBytes(await objects.get(BUCKET, key), LARGEST);
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  }
}

const WINDOW_MS = 600_000;
const MOST_READ = 56 << 20;
/** A picture without an end is shown for at most so long. */
const LONGEST_MS = 8000;

/** A picture is shown until the next packet. */
async function pictureSpans(film: TrackFilm, row: SubtitleRow, work: Work): Promise<Span[] | NoCues> {
  const place = await openMedia(work, film);
  if (place.kind !== 'there') return 'storage';
  const { container, startMs } = film.probe;
  const source = { file: place.absolute, container, scratchDir: work.config.scratchDir };
  const common = { index: row.stream_index, startMs, mostRead: MOST_READ, signal: work.signal };
  const shown = new Map<number, { timeMs: number; durationMs: number; shows: boolean }>();
  try {
    for (let fromMs = 0; fromMs < film.durationMs; fromMs += WINDOW_MS) {
      const { codec, packets } = await readPictures(source, { ...common, fromMs, toMs: fromMs + WINDOW_MS });
      for (const { timeMs, durationMs, bytes } of packets)
        shown.set(timeMs, { timeMs, durationMs, shows: showsPicture(codec, bytes) });
    }
  } catch (error) {
    if (error instanceof Unsure) return 'no-cues';
    throw error;
  }
  const packets = [...shown.values()].sort((a, b) => a.timeMs - b.timeMs);
  return packets.flatMap(({ timeMs, durationMs, shows }, i) => {
    const next = (packets[i + 1]?.timeMs ?? Number.POSITIVE_INFINITY) - timeMs;
    return shows ? [{ startMs: timeMs, endMs: timeMs + Math.min(next, durationMs || LONGEST_MS) }] : [];
  });
}

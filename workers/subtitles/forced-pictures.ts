// Picture tracks that show forced pictures alone, where no flag of the container says so.
import { markTracks } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { announceSubtitles } from '#areas/subtitles/public.ts';
import type { ProbedStream } from '#platform/media.ts';
import { Unsure } from '../probe/fault.ts';
import { FinalFailure, type Work } from '../work.ts';
import { type ForeignFilm, lookAtForeign } from './foreign-pictures.ts';
import { type Candidate, lookAtFilm, type Stretch } from './matroska-look.ts';

/** Stretches of a film that are looked at. */
const STRETCHES = 8;
/** The first part of a stretch that ffmpeg reads; each further one is longer, up to the limits in all. */
const FIRST_PART_MS = 10_000;
const PART_GROWTH = 3;
const FOREIGN_MS = 180_000;
/** ffmpeg ends a copy at the next packet of each track after the part, which may be far: a film with such a copy is given up. */
const PATIENCE_MS = 120_000;
/** ffmpeg reads every byte; the parts of all stretches have together at most about so many. */
const MOST_FOREIGN = 4 * 2 ** 30;

/** A picture track that no flag marks. */
export const mayBeForced = ({ kind, codec, forced, hearingImpaired }: ProbedStream): boolean =>
  kind === 'subtitle' && ['pgs', 'vobsub'].includes(codec) && !forced && !hearingImpaired;

/** Marks the picture tracks of a film that show forced pictures alone. */
export async function markForced(fileId: string, work: Work): Promise<{ marked: number } | undefined> {
  const source = await findSource(work.db, fileId);
  if (!source?.probe) return undefined;
  const place = await openMedia(work, source);
  if (place.kind !== 'there') throw new FinalFailure('STORAGE_UNAVAILABLE', 'The file is not to be reached');
  const { container, startMs, streams } = source.probe;
  const { scratchDir } = work.config;
  const film = { file: place.absolute, container, scratchDir, patienceMs: PATIENCE_MS };
  const { durationMs, sizeBytes } = source;
  const indexes = await forcedAmong(
    { ...film, startMs, durationMs, sizeBytes, signal: work.signal },
    streams.filter(mayBeForced).map(({ index }) => index),
  );
  return work.db.transaction(async (tx) => {
    const marked = await markTracks(tx, source, { indexes, as: 'forced' });
    if (marked > 0) await announceSubtitles(tx, source.itemId);
    return { marked };
  });
}

interface LookedAtFilm extends ForeignFilm {
  /** The file's clock at the beginning of the film. */
  startMs: number;
  durationMs: number;
  sizeBytes: number;
  signal: AbortSignal;
}

/** Those of the tracks whose pictures are all forced. None of a film that cannot be read. */
export async function forcedAmong(film: LookedAtFilm, indexes: readonly number[]): Promise<number[]> {
  const candidates = indexes.map((index) => ({ index, isShown: false, isPlain: false }));
  try {
    if (['matroska', 'webm'].includes(film.container)) await lookAtFilm(film, candidates, stretchesOf(film));
    else await lookInParts(film, candidates);
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    return [];
  }
  return candidates.filter(({ isShown, isPlain }) => isShown && !isPlain).map(({ index }) => index);
}

/** The middle of the film is first: an ordinary track shows something there within seconds, but not during the opening. */
function stretchesOf({ durationMs }: LookedAtFilm): Stretch[] {
  const lengthMs = durationMs / STRETCHES;
  return Array.from({ length: STRETCHES }, (_, n) => {
    const fromMs = Math.floor(((n + STRETCHES / 2) % STRETCHES) * lengthMs);
    return { fromMs, toMs: Math.ceil(fromMs + lengthMs) };
  });
}

/** By parts that grow, so that little is read where each track soon shows a picture that is not forced. */
async function lookInParts(film: LookedAtFilm, candidates: readonly Candidate[]): Promise<void> {
  const { durationMs, sizeBytes, signal } = film;
  const mostMs = Math.min(FOREIGN_MS, (MOST_FOREIGN / STRETCHES / Math.max(sizeBytes, 1)) * durationMs);
  for (const { fromMs, toMs } of stretchesOf(film)) {
    const endMs = Math.min(toMs, fromMs + mostMs);
    for (let [at, lengthMs] = [fromMs, FIRST_PART_MS]; at < endMs; lengthMs *= PART_GROWTH) {
      if (candidates.every(({ isPlain }) => isPlain)) return;
      const part = { fromMs: at, toMs: Math.min(at + lengthMs, endMs), signal };
      await lookAtForeign(film, candidates, part);
      at = part.toMs;
    }
  }
}

// Picture tracks that show forced pictures alone, where no flag of the container says so.
import { markTracks } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { announceSubtitles } from '#areas/subtitles/public.ts';
import type { ProbedStream } from '#platform/media.ts';
import { Unsure } from '../probe/fault.ts';
import { FinalFailure, type Work } from '../work.ts';
import { isForced, showsPicture } from './display-sets.ts';
import type { ForeignFilm } from './foreign-pictures.ts';
import type { PictureQuery } from './matroska-places.ts';
import { readPictures } from './pictures-job.ts';

/** Stretches of a film that are looked at. An ordinary track ends the look at its first picture. */
const STRETCHES = 8;
/** Of one stretch: a Matroska file is read from block to block, of other containers all bytes are. */
const MOST_READ = 6 << 20;
const FOREIGN_MS = 180_000;

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
  const film = { file: place.absolute, container, scratchDir: work.config.scratchDir };
  const indexes: number[] = [];
  for (const { index } of streams.filter(mayBeForced)) {
    const query = { index, startMs, mostRead: MOST_READ, signal: work.signal };
    if (await isAllForced(film, query, source.durationMs)) indexes.push(index);
  }
  return work.db.transaction(async (tx) => {
    const marked = await markTracks(tx, fileId, { indexes, as: 'forced' });
    if (marked > 0) await announceSubtitles(tx, source.itemId);
    return { marked };
  });
}

async function isAllForced(
  film: ForeignFilm,
  query: Omit<PictureQuery, 'fromMs' | 'toMs'>,
  durationMs: number,
): Promise<boolean> {
  const lengthMs = durationMs / STRETCHES;
  const lookMs = ['matroska', 'webm'].includes(film.container) ? lengthMs : Math.min(FOREIGN_MS, lengthMs);
  let shown = 0;
  for (let n = 0; n < STRETCHES; n += 1) {
    const fromMs = Math.floor(n * lengthMs);
    const pictures = await picturesOf(film, { ...query, fromMs, toMs: Math.ceil(fromMs + lookMs) });
    if (pictures.includes(false)) return false;
    shown += pictures.length;
  }
  return shown > 0;
}

/** Of each picture that is shown, whether it is forced. */
async function picturesOf(film: ForeignFilm, query: PictureQuery): Promise<boolean[]> {
  try {
    const { codec, packets } = await readPictures(film, query);
    return packets.filter(({ bytes }) => showsPicture(codec, bytes)).map(({ bytes }) => isForced(codec, bytes));
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    return [false]; // it cannot be read
  }
}

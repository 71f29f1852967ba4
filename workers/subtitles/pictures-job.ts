import { openMedia } from '#areas/storage/public.ts';
import { findSource, versionOf } from '#areas/streaming/public.ts';
import { type PictureStretch as Stretch, stretchKey } from '#platform/subtitles/stretches.ts';
import { Unsure } from '../probe/fault.ts';
import type { Work } from '../work.ts';
import { cis1 } from './cis1.ts';
import { foreignPictures } from './foreign-pictures.ts';
import { matroskaPictures, type PictureStretch } from './matroska-pictures.ts';
import type { PictureQuery } from './matroska-places.ts';
import { shownPictures } from './shown-pictures.ts';
import { BUCKET } from './take-out.ts';

/** Reads a stretch of a picture track and stores it as CIS1. A track that cannot be read is no failure of the job. */
export async function extractPictures(
  { fileId, pictures }: { fileId: string; pictures: Stretch },
  work: Work,
): Promise<{ read: boolean }> {
  const source = await findSource(work.db, fileId);
  const place = source && (await openMedia(work, source));
  if (!source?.probe || place?.kind !== 'there' || versionOf(source) !== pictures.filmVersion) return { read: false };
  const { container, startMs } = source.probe;
  const film = { file: place.absolute, container, scratchDir: work.config.scratchDir };
  const of = { index: pictures.streamIndex, startMs, signal: work.signal };
  try {
    const shown = await shownPictures(pictures.timing, pictures, (window, mostRead) =>
      readPictures(film, { ...of, ...window, mostRead }),
    );
    await work.objects.put(BUCKET, stretchKey(fileId, pictures), cis1(shown));
    return { read: true };
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    return { read: false };
  }
}

/** Packets of a picture track. Matroska is read by its index; for other containers ffmpeg reads what it needs. Throws Unsure. */
export async function readPictures(
  film: { file: string; container: string; scratchDir: string },
  query: PictureQuery,
): Promise<PictureStretch> {
  if (['matroska', 'webm'].includes(film.container)) {
    try {
      return await matroskaPictures(film.file, query);
    } catch (error) {
      if (!(error instanceof Unsure)) throw error;
    }
  }
  const found = await foreignPictures(film, query);
  if (!found) throw new Unsure('ffmpeg cannot read the track');
  return found;
}

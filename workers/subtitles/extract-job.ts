import { markTracks } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import {
  type FileSource,
  findSource,
  fontKey,
  fontsKey,
  readCues,
  TEXT_CODECS,
  textTrackKey,
  versionOf,
} from '#areas/streaming/public.ts';
import { announceSubtitles } from '#areas/subtitles/public.ts';
import { firstBytes } from '#platform/bytes.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { ProbedStream } from '#platform/media.ts';
import { FinalFailure, type Work } from '../work.ts';
import { markForced } from './forced-pictures.ts';
import { isForHearingImpaired } from './hearing-impaired.ts';
import { matroskaFonts } from './matroska-texts.ts';
import { extractPictures } from './pictures-job.ts';
import { BUCKET, takeOutTexts } from './take-out.ts';
import type { TextSource } from './text-source.ts';

/** Extracts text tracks and fonts of a film once, and stores them under the file's current content. */
export async function extractSubtitles(
  { fileId, pictures, forced }: JobPayload<'subtitles.extract'>,
  work: Work,
): Promise<object | undefined> {
  if (pictures) return extractPictures({ fileId, pictures }, work);
  if (forced) return markForced(fileId, work);

  const source = await findSource(work.db, fileId);
  if (!source?.probe) return undefined;
  const place = await openMedia(work, source);
  if (place.kind !== 'there') throw new FinalFailure('STORAGE_UNAVAILABLE', 'The file is not to be reached');
  const { container, startMs, streams } = source.probe;
  const from = { fileId, version: versionOf(source), container, startMs, file: place.absolute };
  await keepFonts(from, source, work);
  const tracks = streams.filter((one) => one.kind === 'subtitle' && TEXT_CODECS.includes(one.codec));
  await takeOutTexts(
    from,
    tracks.map(({ index, codec }) => ({ index, format: codec })),
    work,
  );
  const quiet = tracks.filter(({ hearingImpaired, forced }) => !hearingImpaired && !forced);
  await markByCues(from, { file: source, tracks: quiet }, work);
  return undefined;
}

const LARGEST = 20 * 2 ** 20;

/** Marks the tracks whose cues say it, where no flag of the file does. */
async function markByCues(
  source: TextSource,
  { file, tracks }: { file: FileSource; tracks: readonly ProbedStream[] },
  { db, objects }: Work,
): Promise<void> {
  const found: number[] = [];
  for (const { index, codec } of tracks) {
    const bytes = await firstBytes(await objects.get(BUCKET, textTrackKey(source, index)), LARGEST);
    if (isForHearingImpaired(await readCues(bytes, { format: codec }))) found.push(index);
  }
  if (found.length === 0) return;
  await db.transaction(async (tx) => {
    const marked = await markTracks(tx, file, { indexes: found, as: 'hearing_impaired' });
    if (marked > 0) await announceSubtitles(tx, file.itemId);
  });
}

/** Stores the fonts, and last the list of them. */
async function keepFonts(from: TextSource, { probe }: FileSource, { objects, signal }: Work): Promise<void> {
  const attached = probe?.streams.some((stream) => stream.kind === 'attachment');
  if (!attached || from.container !== 'matroska' || (await objects.stat(BUCKET, fontsKey(from)))) return;
  const kept: object[] = [];
  for await (const { place, mime, bytes } of matroskaFonts(from.file, signal)) {
    await objects.put(BUCKET, fontKey(from, place), bytes);
    kept.push({ place, mime, sizeBytes: bytes.length });
  }
  await objects.put(BUCKET, fontsKey(from), JSON.stringify(kept));
}

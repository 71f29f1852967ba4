import { openMedia } from '#areas/storage/public.ts';
import { type FileSource, findSource, fontKey, fontsKey, TEXT_CODECS, versionOf } from '#areas/streaming/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { FinalFailure, type Work } from '../work.ts';
import { matroskaFonts } from './matroska-texts.ts';
import { extractPictures } from './pictures-job.ts';
import { BUCKET, type TextSource, takeOutTexts } from './take-out.ts';

/** Extracts text tracks and fonts of a film once, and stores them under the file's current content. */
export async function extractSubtitles(
  { fileId, pictures }: JobPayload<'subtitles.extract'>,
  work: Work,
): Promise<object | undefined> {
  if (pictures) return extractPictures({ fileId, pictures }, work);

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
  return undefined;
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

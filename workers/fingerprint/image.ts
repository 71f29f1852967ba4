import type { Print } from '#areas/libraries/public.ts';
import type { FileSource } from '#areas/streaming/public.ts';
import { ARTWORK_BYTES, artworkRules } from '#kernel/images.ts';
import { openBytes } from '#platform/media-bytes.ts';
import { rawExtensions } from '#platform/media-extensions.ts';
import { createPictures, PictureRefused } from '#platform/pictures.ts';
import { readContent } from '../probe/content/pool.ts';
import { ProbeError } from '../probe/probe.ts';
import { splitName } from '../scan/names/kinds.ts';
import type { Work } from '../work.ts';

/** Pictures of these extensions have a preview that libvips reads. */
const PREVIEWED = new Set(['heic', 'heif', ...rawExtensions]);

/** Undefined for bytes that are no picture. */
export async function imageHash(work: Work, { path, sizeBytes }: FileSource, file: string): Promise<Print | undefined> {
  try {
    const bytes = PREVIEWED.has(splitName(path).extension)
      ? await readContent('preview', file, work.signal)
      : await readWhole(file, sizeBytes);
    if (!bytes) return undefined;
    const rules = { ...artworkRules, minSide: 1 };
    return { hash: await createPictures(work.config.parserUrl).phash(Buffer.from(bytes), rules) };
  } catch (error) {
    if (error instanceof PictureRefused || error instanceof ProbeError) return undefined;
    throw error;
  }
}

/** At most the bytes that a picture may have, even of a file that grows. */
async function readWhole(path: string, sizeBytes: number): Promise<Buffer | undefined> {
  if (sizeBytes > ARTWORK_BYTES) return undefined;
  const file = await openBytes(path);
  try {
    return await file.read(0, sizeBytes);
  } finally {
    await file.close();
  }
}

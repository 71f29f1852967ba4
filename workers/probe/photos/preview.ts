import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import decodeHeic from 'heic-decode';
import { rawExtensions } from '#platform/media-extensions.ts';
import { rawPreview } from './raw.ts';
import { tiffOf } from './tiff.ts';

const HEIC_BYTES = 64 << 20;
const MOST_PIXELS = 1e8;

/**
 * A picture that every tool reads, of a photo that is HEIC or of a camera's own form: at most 2,560 pixels a side for HEIC.
 * Undefined for other files. Throws for a file that cannot be decoded.
 */
export async function readPreview(path: string): Promise<Uint8Array | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const extension = extname(path).slice(1).toLowerCase();
  if (rawExtensions.includes(extension)) return await rawPreview(file, size);
  if (extension !== 'heic' && extension !== 'heif') return undefined;
  if (size > HEIC_BYTES) throw new Error('too large');
  const picture = await decodeHeic({ buffer: await file.readFile() });
  if (picture.width * picture.height > MOST_PIXELS) throw new Error('too many pixels');
  return tiffOf(picture);
}

import sharp, { type Sharp } from 'sharp';
import { PHASH_SIDE, phash } from './phash.ts';

/** The perceptual hash of the first frame, upright. */
export async function phashOf(open: () => Sharp): Promise<string> {
  const small = open().autoOrient().resize(PHASH_SIDE, PHASH_SIDE, { fit: 'fill' }).toColourspace('srgb').removeAlpha();
  const { data, info } = await small.raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const grey = await sharp(data, { raw: { width, height, channels } }).toColourspace('b-w').raw().toBuffer();
  const step = grey.length / (PHASH_SIDE * PHASH_SIDE);
  return phash(step === 1 ? grey : Uint8Array.from({ length: PHASH_SIDE ** 2 }, (_, i) => grey[i * step] ?? 0));
}

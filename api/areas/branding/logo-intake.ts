import { createHash } from 'node:crypto';
import type { MadePicture, PictureMake, PictureRules } from '#platform/pictures.ts';
import type { Kind } from './branding.schemas.ts';

export const LOGO_BYTES = 5 << 20;
export const LOGO_MEDIA = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/svg+xml',
] as const;

const base = {
  accepts: ['png', 'jpeg', 'webp', 'avif', 'gif', 'svg'] as const,
  minSide: 16,
  maxSide: 4096,
  maxPixels: 1e8,
};
const drawn: PictureMake = { format: 'webp', width: 1024, height: 1024, fit: 'inside', lossless: true };

/** The main logo keeps only the first frame of an animation. */
const intakes: Record<Kind, { rules: PictureRules; make: PictureMake }> = {
  main: { rules: { ...base, maxFrames: 10_000 }, make: drawn },
  loading: {
    rules: { ...base, maxFrames: 60, maxMs: 5000 },
    make: { ...drawn, animated: true, maxBytes: 2 << 20 },
  },
};
export const intakeOf = (kind: Kind): { rules: PictureRules; make: PictureMake } => intakes[kind];

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The facts that are stored about an accepted picture. */
export function factsOf(picture: MadePicture, given: Buffer) {
  const { made, bytes, blurhash } = picture;
  return { original: sha256(given), made: sha256(bytes), blurhash, ...made };
}

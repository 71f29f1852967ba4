// The sizes and formats in which an image is served, and their names.
import { createHash } from 'node:crypto';
import type { PictureMake } from '#platform/pictures.ts';
import type { ServedRow } from './images.view.ts';

export type MadeFormat = 'avif' | 'webp' | 'jpeg' | 'png';

/** A requested rendition of an image. */
export interface VariantQuery {
  width?: number | undefined;
  height?: number | undefined;
  fit: 'contain' | 'cover' | 'inside';
  quality: number;
  blur: number;
  animated: boolean;
}

export interface Variant {
  /** Part of a key in the store, unique among the variants of the same original bytes. */
  name: string;
  make: PictureMake;
  type: string;
}

const STEPS = [48, 96, 160, 240, 320, 480, 640, 960, 1280, 1440, 1920, 2560, 3840];
const QUALITY_STEP = 5;
/** Images with fewer pixels are made as AVIF at once. */
const AVIF_PIXELS = 1_000_000;

/** The next of the sizes that exist. */
const rounded = (size: number): number => STEPS.find((step) => step >= size) ?? 3840;

interface Sides {
  width: number;
  height: number;
}

/** The produced sides: never larger than the image, in the proportion that `fit` gives them. */
function sidesOf(image: Sides, { width, height, fit }: VariantQuery): Sides {
  const [wide, high] = [width && rounded(width), height && rounded(height)];
  if (wide && high && fit !== 'inside') {
    const scale = Math.min(1, Math.max(image.width / wide, image.height / high));
    return { width: Math.max(1, Math.round(wide * scale)), height: Math.max(1, Math.round(high * scale)) };
  }
  const scale = Math.min(1, (wide ?? image.width) / image.width, (high ?? image.height) / image.height);
  return {
    width: Math.max(1, Math.round(image.width * scale)),
    height: Math.max(1, Math.round(image.height * scale)),
  };
}

/** The instructions over the original, as a part of the name; empty without any. */
function instructionsOf({ rotate, crop, focus }: ServedRow, covers: boolean): string {
  const about = covers ? focus : null;
  if (rotate === 0 && !crop && !about) return '';
  const text = JSON.stringify([rotate, crop, about]);
  return `-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/** A shape for two sides; with one of them the proportion is kept. */
const shapeOf = ({ width, height, fit }: VariantQuery): VariantQuery['fit'] =>
  width !== undefined && height !== undefined ? fit : 'inside';

export function variantOf(image: ServedRow, query: VariantQuery, format: MadeFormat): Variant {
  const animated = query.animated && image.animated && format === 'webp';
  const sides = sidesOf(image, query);
  const shape = shapeOf(query);
  const quality = Math.min(95, Math.ceil(query.quality / QUALITY_STEP) * QUALITY_STEP);
  const parts = [
    `${sides.width}x${sides.height}`,
    ...(shape === 'inside' ? [] : [shape]),
    ...(format === 'png' ? [] : [`q${quality}`]),
    ...(query.blur > 0 ? [`b${query.blur}`] : []),
    ...(animated ? ['a'] : []),
  ];
  return {
    name: `${parts.join('-')}${instructionsOf(image, shape === 'cover')}.${format}`,
    type: `image/${format}`,
    make: {
      ...{ ...sides, format, quality, fit: shape === 'inside' ? 'fill' : shape, enlarge: true },
      ...(animated && { animated: true }),
      ...(query.blur > 0 && { blur: query.blur }),
      ...makingOf(image),
    },
  };
}

function makingOf({ rotate, crop, focus }: ServedRow): Partial<PictureMake> {
  return {
    ...(rotate !== 0 && { rotate: rotate as 90 | 180 | 270 }),
    ...(crop && { crop }),
    ...(focus && { focus }),
  };
}

/** Formats that the client accepts by name, the smallest first. */
export function acceptedFormats(accept: string | undefined): MadeFormat[] {
  const named = (accept ?? '').toLowerCase();
  return (['avif', 'webp'] as const).filter((format) => named.includes(`image/${format}`));
}

/** The format for a client that leaves it open. AVIF costs much to make, so a large image is AVIF only where that exists. */
export function openFormat(
  image: ServedRow,
  accepted: readonly MadeFormat[],
  exists: (format: MadeFormat) => boolean,
): MadeFormat {
  const small = image.width * image.height < AVIF_PIXELS;
  if (accepted.includes('avif') && (small || exists('avif'))) return 'avif';
  if (accepted.includes('webp')) return 'webp';
  return image.alpha ? 'png' : 'jpeg';
}

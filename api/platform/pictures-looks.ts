// The colours of a picture, from a small copy of it.
import sharp, { type Sharp } from 'sharp';
import { blurhash } from './pictures-blurhash.ts';
import type { PictureFacts } from './pictures-protocol.ts';

const BLUR_SIDE = 32;
const MOST_COLOURS = 5;
/** Squared distance below which two colours count as one. */
const NEAR = 48 ** 2;
/** Share of the pixels that a colour of the palette has at least. */
const LEAST_SHARE = 0.02;

export type Looks = Pick<PictureFacts, 'blurhash' | 'dominant' | 'palette' | 'brightness' | 'contrast' | 'alpha'>;

export const NO_LOOKS: Looks = {
  ...{ blurhash: '', dominant: '#000000', palette: [], brightness: 0, contrast: 0, alpha: false },
};

type Colour = [red: number, green: number, blue: number];

const hexOf = (colour: Colour): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** Reads the first frame of the picture. */
export async function looksOf(open: () => Sharp): Promise<Looks> {
  const small = open().autoOrient().resize(BLUR_SIDE, BLUR_SIDE, { fit: 'inside' }).toColourspace('srgb').removeAlpha();
  const { data, info } = await small.raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const rgb = info.channels === 3 ? data : await sharp(data, { raw }).toColourspace('srgb').raw().toBuffer();
  const { dominant } = await sharp(rgb, { raw: { ...raw, channels: 3 } }).stats();
  const { hasAlpha } = await open().metadata();
  return {
    blurhash: blurhash({ data: rgb, ...info }),
    dominant: hexOf([dominant.r, dominant.g, dominant.b]),
    palette: paletteOf(rgb),
    ...lightOf(rgb),
    alpha: hasAlpha,
  };
}

/** Mean and standard deviation of the brightness. */
function lightOf(rgb: Uint8Array): Pick<Looks, 'brightness' | 'contrast'> {
  let [sum, squares] = [0, 0];
  const count = rgb.length / 3;
  for (let at = 0; at < rgb.length; at += 3) {
    const light = 0.2126 * (rgb[at] ?? 0) + 0.7152 * (rgb[at + 1] ?? 0) + 0.0722 * (rgb[at + 2] ?? 0);
    sum += light;
    squares += light * light;
  }
  const mean = sum / count;
  return { brightness: mean, contrast: Math.sqrt(Math.max(0, squares / count - mean * mean)) };
}

interface Bin {
  sum: Colour;
  count: number;
}

/** The most frequent colours that differ from each other. */
function paletteOf(rgb: Uint8Array): string[] {
  const least = (rgb.length / 3) * LEAST_SHARE;
  const found: Colour[] = [];
  for (const [at, { sum, count }] of binsOf(rgb).entries()) {
    const colour = sum.map((part) => part / count) as Colour;
    const isUsed = at === 0 || count >= least;
    if (isUsed && found.every((other) => distance(other, colour) > NEAR)) found.push(colour);
  }
  return found.slice(0, MOST_COLOURS).map(hexOf);
}

/** A histogram of 16 levels a channel, the most frequent colours first. */
function binsOf(rgb: Uint8Array): Bin[] {
  const bins = new Map<number, Bin>();
  for (let at = 0; at < rgb.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = rgb.subarray(at, at + 3);
    const key = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4);
    const bin = bins.get(key) ?? { sum: [0, 0, 0], count: 0 };
    bin.sum = [bin.sum[0] + red, bin.sum[1] + green, bin.sum[2] + blue];
    bin.count += 1;
    bins.set(key, bin);
  }
  return [...bins.values()].sort((a, b) => b.count - a.count);
}

const distance = (one: Colour, other: Colour): number =>
  one.reduce((sum, part, at) => sum + (part - (other[at] ?? 0)) ** 2, 0);

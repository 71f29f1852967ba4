// Icons in the sandboxed process: a drawing becomes pixels once, and a picture becomes squares of fixed sizes.
import sharp, { type Sharp } from 'sharp';
import { rebuiltSvg, SvgRefused } from './pictures-icon-svg.ts';
import type { IconFault, IconPart, PictureFacts } from './pictures-protocol.ts';
import type { PictureFormat } from './pictures-sniff.ts';

const DRAWN_SIDE = 512;
const SVG_DPI = 72;
const SVG_BYTES = 262_144;
const MOST_SIDE = 4096;
const LEAST_SIDE = 16;
const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };

/** An icon that is refused. */
export class IconRefused extends Error {
  readonly fault: IconFault;
  constructor(fault: IconFault, detail = '') {
    super(detail);
    this.fault = fault;
  }
}

export interface IconMade {
  facts: Pick<PictureFacts, 'width' | 'height'>;
  tintable: boolean;
  parts: IconPart[];
  bytes: Buffer;
}

/** The drawing as PNG whose longer side has 512 pixels. Throws `IconRefused`. */
export async function drawnIcon(bytes: Buffer): Promise<Buffer> {
  if (bytes.length > SVG_BYTES) throw new IconRefused('too-large');
  const svg = Buffer.from(rebuilt(bytes));
  try {
    const { width, height } = await sharp(svg, { limitInputPixels: false }).metadata();
    const density = Math.min(100_000, Math.max(1, (SVG_DPI * DRAWN_SIDE) / Math.max(width, height, 1)));
    const sides = { width: DRAWN_SIDE, height: DRAWN_SIDE, fit: 'inside' as const };
    return await sharp(svg, { density, limitInputPixels: 4 * DRAWN_SIDE * DRAWN_SIDE })
      .resize(sides)
      .png()
      .toBuffer();
  } catch (error) {
    throw new IconRefused('corrupt', (error as Error).message);
  }
}

function rebuilt(bytes: Buffer): string {
  try {
    return rebuiltSvg(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SvgRefused) throw new IconRefused(error.fault, error.message);
    throw new IconRefused('corrupt', (error as Error).message);
  }
}

/** A PNG with several frames, of which libvips would read the first alone. */
const isMovingPng = (bytes: Buffer): boolean => {
  const pixels = bytes.indexOf('IDAT');
  return bytes.subarray(0, pixels < 0 ? bytes.length : pixels).includes('acTL');
};

async function head(bytes: Buffer, format: PictureFormat): Promise<{ width: number; height: number }> {
  const { pages = 1, width, height, orientation = 1, ...metadata } = await sharp(bytes, { failOn: 'error' }).metadata();
  if (metadata.format !== format) throw new IconRefused('not-an-image');
  if (pages > 1 || (format === 'png' && isMovingPng(bytes))) throw new IconRefused('animated');
  if (Math.max(width, height) > MOST_SIDE) throw new IconRefused('too-large');
  if (Math.min(width, height) < LEAST_SIDE) throw new IconRefused('too-small');
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

/** Square PNG and WebP of each size that is at most twice the picture's own. Throws `IconRefused`. */
export async function iconOf(
  bytes: Buffer,
  { format, sizes, isDrawn }: { format: PictureFormat; sizes: readonly number[]; isDrawn: boolean },
): Promise<IconMade> {
  try {
    const facts = await head(bytes, format);
    const longest = Math.max(facts.width, facts.height) * (isDrawn ? 1 : 2);
    const [least = 0] = sizes;
    const fitting = sizes.filter((size) => size === least || size <= longest);
    const side = fitting.at(-1) ?? least;
    const upright = sharp(bytes, { failOn: 'error', limitInputPixels: MOST_SIDE * MOST_SIDE }).autoOrient();
    const { data, info } = await squared(upright.toColourspace('srgb').ensureAlpha(), side)
      .raw()
      .toBuffer({ resolveWithObject: true });
    const raw = { width: info.width, height: info.height, channels: 4 as const };
    const made: Buffer[] = [];
    const parts: IconPart[] = [];
    for (const size of fitting) {
      const square = sharp(data, { raw }).resize(size, size);
      const pair = [
        { as: 'png' as const, made: await square.clone().png({ compressionLevel: 6 }).toBuffer() },
        { as: 'webp' as const, made: await webp(square, format).toBuffer() },
      ];
      for (const one of pair) {
        parts.push({ size, format: one.as, length: one.made.length });
        made.push(one.made);
      }
    }
    return { facts, tintable: isOneColour(data), parts, bytes: Buffer.concat(made) };
  } catch (error) {
    if (error instanceof IconRefused) throw error;
    throw new IconRefused(/pixel limit/i.test(String(error)) ? 'too-large' : 'corrupt', String(error).slice(0, 300));
  }
}

const squared = (picture: Sharp, side: number): Sharp =>
  picture.resize(side, side, { fit: 'contain', background: CLEAR });

const webp = (picture: Sharp, format: PictureFormat): Sharp =>
  picture.clone().webp(format === 'jpeg' ? { quality: 90 } : { lossless: true, effort: 3 });

const OPAQUE = 128;
/** Highest difference of the channels of a grey, and the widest range of one colour. */
const GREY = 24;
const HUE_RANGE = 24;
const GREY_RANGE = 96;

type Colour = [red: number, green: number, blue: number];

function* opaquePixels(rgba: Buffer): Generator<Colour> {
  for (let at = 0; at < rgba.length; at += 4)
    if ((rgba[at + 3] ?? 0) >= OPAQUE) yield [rgba[at] ?? 0, rgba[at + 1] ?? 0, rgba[at + 2] ?? 0];
}

/** The range of numbers; undefined without any. */
class Span {
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;
  add(value: number): void {
    this.#low = Math.min(this.#low, value);
    this.#high = Math.max(this.#high, value);
  }
  get size(): number | undefined {
    return this.#high < this.#low ? undefined : this.#high - this.#low;
  }
}

/** Whether all opaque pixels share one hue; greys do when they are equally light. */
export function isOneColour(rgba: Buffer): boolean {
  const [hues, greys] = [new Span(), new Span()];
  let first: number | undefined;
  for (const colour of opaquePixels(rgba)) {
    const [most, least] = [Math.max(...colour), Math.min(...colour)];
    if (most - least < GREY) greys.add(most);
    else {
      const hue = hueOf(colour, most, least);
      first ??= hue;
      hues.add(((hue - first + 540) % 360) - 180); // the circle is cut opposite to the first hue
    }
  }
  if (greys.size === undefined) return hues.size !== undefined && hues.size <= HUE_RANGE;
  return hues.size === undefined && greys.size <= GREY_RANGE;
}

function hueOf([red, green, blue]: Colour, most: number, least: number): number {
  const range = most - least;
  if (most === red) return ((green - blue) / range) * 60 + (green < blue ? 360 : 0);
  return (most === green ? 2 + (blue - red) / range : 4 + (red - green) / range) * 60;
}

// The process that opens foreign pictures: it has no environment, no network and no write access, and exits at the
// first fault.
import sharp, { type Metadata, type Sharp } from 'sharp';
import { endProcess } from './leave.ts';
import { blurhash } from './pictures-blurhash.ts';
import { frameReader, toFrame } from './pictures-frames.ts';
import type { ChildAnswer, ChildRequest, PictureFacts, PictureMake, PictureRules } from './pictures-protocol.ts';
import { MOST_FRAME_BYTES, Refused } from './pictures-protocol.ts';
import type { PictureFormat } from './pictures-sniff.ts';
import { cleanSvg } from './pictures-svg.ts';

const LOADERS = ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif', 'Svg', 'Tiff'].map((name) => `VipsForeignLoad${name}Buffer`);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });
sharp.cache(false);
sharp.concurrency(1);

const BLUR_SIDE = 32;
const SVG_DPI = 72;
const SVG_SIDE = 1024;

type Opening = (options?: { animated: boolean }) => Sharp;

/** The name that libvips uses for a format. */
const called = (format: PictureFormat): string => (format === 'avif' ? 'heif' : format);

async function opened(bytes: Buffer, task: ChildRequest): Promise<Opening> {
  const { format, rules } = task;
  const base = { limitInputPixels: rules.maxPixels, failOn: 'error' as const };
  if (format !== 'svg') return (options) => sharp(bytes, { ...base, animated: options?.animated ?? false });
  const drawing = Buffer.from(cleanSvg(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  const { width, height } = await sharp(drawing, base).metadata();
  const density = Math.min(100_000, Math.max(1, (SVG_DPI * SVG_SIDE) / Math.max(width, height, 1)));
  return () => sharp(drawing, { ...base, density });
}

interface Sides {
  width: number;
  height: number;
}

function sidesOf(metadata: Metadata): Sides {
  const height = metadata.pageHeight ?? metadata.height;
  const turned = (metadata.orientation ?? 1) >= 5;
  return turned ? { width: height, height: metadata.width } : { width: metadata.width, height };
}

const durationOf = ({ delay = [] }: Metadata): number => delay.reduce((sum, part) => sum + part, 0);

function judge(metadata: Metadata, { width, height }: Sides, rules: PictureRules): void {
  if (Math.min(width, height) < rules.minSide) throw new Refused('image_too_small');
  const frames = metadata.pages ?? 1;
  const tooLarge = Math.max(width, height) > rules.maxSide || width * height > rules.maxPixels;
  if (tooLarge) throw new Refused('image_too_large');
  if (frames > rules.maxFrames || durationOf(metadata) > (rules.maxMs ?? Number.POSITIVE_INFINITY))
    throw new Refused('animation_too_long');
}

async function looks(open: Opening): Promise<Pick<PictureFacts, 'blurhash' | 'dominant' | 'alpha'>> {
  const small = open().autoOrient().resize(BLUR_SIDE, BLUR_SIDE, { fit: 'inside' }).toColourspace('srgb').removeAlpha();
  const { data, info } = await small.raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const rgb = info.channels === 3 ? data : await sharp(data, { raw }).toColourspace('srgb').raw().toBuffer();
  const { dominant } = await sharp(rgb, { raw: { ...raw, channels: 3 } }).stats();
  const hex = [dominant.r, dominant.g, dominant.b].map((part) => part.toString(16).padStart(2, '0')).join('');
  const { hasAlpha } = await open().metadata();
  return { blurhash: blurhash({ data: rgb, ...info }), dominant: `#${hex}`, alpha: hasAlpha };
}

function shaped(picture: Sharp, make: PictureMake): Sharp {
  const { width, height, fit, enlarge, background } = make;
  const sized = picture.autoOrient().resize({
    width,
    height,
    fit,
    withoutEnlargement: !enlarge,
    background: background ?? { r: 0, g: 0, b: 0, alpha: 0 },
  });
  const filled = background && fit === 'contain' ? sized.flatten({ background }) : sized;
  return filled.toColourspace('srgb');
}

function encoded(picture: Sharp, { format, quality, lossless = false }: PictureMake & { quality?: number }): Sharp {
  if (format === 'png') return picture.png({ compressionLevel: 9 });
  if (format === 'avif') return picture.avif({ quality: quality ?? 60, effort: 3, lossless });
  return picture.webp({ quality: quality ?? 85, effort: 4, lossless });
}

/** Lossless if requested; while larger than `maxBytes`, lossy and smaller. */
async function made(open: Opening, make: PictureMake, animated: boolean) {
  const tries = [make, { ...make, lossless: false, quality: 80 }, { ...make, lossless: false, quality: 60 }];
  const halves = [2, 4].map((part) => ({
    ...make,
    ...{ lossless: false, quality: 60, width: Math.ceil(make.width / part), height: Math.ceil(make.height / part) },
  }));
  for (const one of [...tries, ...halves]) {
    const { data, info } = await encoded(shaped(open({ animated }), one), one).toBuffer({ resolveWithObject: true });
    const result = { bytes: data, made: { width: info.width, height: info.pageHeight ?? info.height, animated } };
    if (data.length <= (make.maxBytes ?? Number.POSITIVE_INFINITY)) return result;
  }
  throw new Refused('image_too_large');
}

async function work(task: ChildRequest, bytes: Buffer): Promise<{ answer: ChildAnswer; bytes?: Buffer }> {
  const { rules, make } = task;
  const open = await opened(bytes, task);
  const metadata = await open().metadata();
  if (metadata.format !== called(task.format)) throw new Refused('not_an_image');
  const sides = sidesOf(metadata);
  judge(metadata, sides, rules);
  const frames = metadata.pages ?? 1;
  const appearance = task.facts ? await looks(open) : { blurhash: '', dominant: '#000000', alpha: false };
  const facts = { ...sides, frames, ...appearance };
  if (!make) return { answer: { ok: true, facts: { ...facts, made: { ...sides, animated: false } } } };
  const result = await made(open, make, make.animated === true && frames > 1);
  return { answer: { ok: true, facts: { ...facts, made: result.made } }, bytes: result.bytes };
}

function reasonOf(error: unknown): Refused['reason'] {
  if (error instanceof Refused) return error.reason;
  return error instanceof Error && /pixel limit/i.test(error.message) ? 'image_too_large' : 'not_an_image';
}

const read = frameReader(MOST_FRAME_BYTES, ({ head, bytes }) => {
  work(head as ChildRequest, bytes).then(
    (done) => process.stdout.write(toFrame(done.answer, done.bytes)),
    (error: unknown) => {
      const answer: ChildAnswer = { ok: false, reason: reasonOf(error), detail: String(error).slice(0, 300) };
      process.stdout.write(toFrame(answer));
    },
  );
});
process.stdin.on('data', read);
process.stdin.on('end', () => void endProcess(0));
process.stdout.write(toFrame({ ready: true }));

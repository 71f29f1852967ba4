// The process that opens foreign pictures: it has no environment, no network and no write access, and exits at the
// first fault.
import sharp, { type Metadata } from 'sharp';
import { endProcess } from './leave.ts';
import { unpackedZip } from './pictures-archive.ts';
import { frameReader, toFrame } from './pictures-frames.ts';
import { drawnIcon, IconRefused, iconOf } from './pictures-icon.ts';
import { looksOf, NO_LOOKS } from './pictures-looks.ts';
import { phashOf } from './pictures-phash.ts';
import type {
  ChildAnswer,
  ChildRequest,
  IconAnswer,
  IconTask,
  Mosaic,
  PictureRules,
  Tile,
} from './pictures-protocol.ts';
import { MOST_FRAME_BYTES, Refused } from './pictures-protocol.ts';
import { madeOf, type Opening, type Sides } from './pictures-shape.ts';
import type { PictureFormat } from './pictures-sniff.ts';
import { cleanSvg } from './pictures-svg.ts';

const LOADERS = ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif', 'Svg', 'Tiff'].map((name) => `VipsForeignLoad${name}Buffer`);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });
sharp.cache(false);
sharp.concurrency(1);

const SVG_DPI = 72;
const SVG_SIDE = 1024;

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

/** Several pictures on one: four in two rows, or the first alone. */
async function mosaicOf(bytes: Buffer, { rules, mosaic }: ChildRequest & { mosaic: Mosaic }): Promise<Opening> {
  const parts = mosaic.lengths.map((length, at) => {
    const start = mosaic.lengths.slice(0, at).reduce((sum, one) => sum + one, 0);
    return bytes.subarray(start, start + length);
  });
  const count = parts.length === 4 ? 4 : 1;
  const side = count === 4 ? 2 : 1;
  const [width, height] = [Math.floor(mosaic.width / side), Math.floor(mosaic.height / side)];
  const laid = await Promise.all(
    parts.slice(0, count).map(async (part, at) => ({
      input: await sharp(part, { limitInputPixels: rules.maxPixels, failOn: 'error' })
        .autoOrient()
        .resize({ width, height, fit: 'cover' })
        .toColourspace('srgb')
        .png({ compressionLevel: 1 })
        .toBuffer(),
      left: (at % 2) * width,
      top: Math.floor(at / 2) * height,
    })),
  );
  const ground = { width: width * side, height: height * side, channels: 3 as const, background: '#000000' };
  const whole = await sharp({ create: ground }).composite(laid).png({ compressionLevel: 1 }).toBuffer();
  return () => sharp(whole);
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The title in the middle of its ground; without a font on this machine only the ground. */
async function tileOf({ title, background, width, height }: Tile): Promise<Opening> {
  const ground = sharp({ create: { width, height, channels: 3, background } });
  const text = `<span foreground="white">${title.replace(/[&<>]/g, (sign) => MARKUP[sign] ?? '')}</span>`;
  const room = { width: Math.floor(width * 0.8), height: Math.floor(height * 0.4) };
  const words = await sharp({ text: { text, rgba: true, align: 'center', wrap: 'word-char', ...room } })
    .png()
    .toBuffer()
    .catch(() => undefined);
  const whole = await ground
    .composite(words ? [{ input: words }] : [])
    .png({ compressionLevel: 1 })
    .toBuffer();
  return () => sharp(whole);
}

async function openingOf(bytes: Buffer, task: ChildRequest): Promise<Opening> {
  const { mosaic, tile } = task;
  if (tile) return tileOf(tile);
  if (mosaic) return mosaicOf(bytes, { ...task, mosaic });
  return opened(bytes, task);
}

/** Reads the head of a foreign picture, whose content must be what its first bytes say. */
async function headOf(open: Opening, { format, mosaic, tile }: ChildRequest): Promise<Metadata> {
  const metadata = await open().metadata();
  if (!mosaic && !tile && metadata.format !== called(format)) throw new Refused('not_an_image');
  return metadata;
}

interface IconDone {
  icon: IconAnswer;
  bytes?: Buffer;
  width?: number;
  height?: number;
}

async function iconWork(task: IconTask, format: PictureFormat, bytes: Buffer): Promise<IconDone> {
  try {
    if (task.kind === 'draw') return { icon: { drawn: true }, bytes: await drawnIcon(bytes) };
    if (task.kind === 'unpack') {
      const { entries, bytes: contents } = await unpackedZip(bytes, task.limits);
      return { icon: { entries }, bytes: contents };
    }
    const { facts, tintable, parts, bytes: made } = await iconOf(bytes, { format, ...task });
    return { icon: { tintable, parts }, bytes: made, ...facts };
  } catch (error) {
    if (!(error instanceof IconRefused)) throw error;
    return { icon: { fault: error.fault, detail: error.message.slice(0, 300) } };
  }
}

async function work(task: ChildRequest, bytes: Buffer): Promise<{ answer: ChildAnswer; bytes?: Buffer }> {
  if (task.icon) {
    const { icon, bytes: made, width = 0, height = 0 } = await iconWork(task.icon, task.format, bytes);
    const facts = { width, height, frames: 1, ...NO_LOOKS, phash: '', made: { width, height, animated: false } };
    return { answer: { ok: true, facts, icon }, ...(made && { bytes: made }) };
  }
  const { rules, make } = task;
  const open = await openingOf(bytes, task);
  const metadata = await headOf(open, task);
  const sides = sidesOf(metadata);
  judge(metadata, sides, rules);
  const frames = metadata.pages ?? 1;
  const appearance = task.facts ? await looksOf(open) : NO_LOOKS;
  const facts = { ...sides, frames, ...appearance, phash: task.phash ? await phashOf(open) : '' };
  if (!make) return { answer: { ok: true, facts: { ...facts, made: { ...sides, animated: false } } } };
  const result = await madeOf(open, sides, { make, animated: make.animated === true && frames > 1 });
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

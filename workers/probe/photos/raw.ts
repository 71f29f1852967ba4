import type { FileHandle } from 'node:fs/promises';

const MOST_DIRECTORIES = 30;
const MOST_ENTRIES = 500;
const MOST_BYTES = 40 << 20;
const SUB_DIRECTORIES = 0x14a;
const STRIP_AT = 0x111;
const STRIP_SIZE = 0x117;
const JPEG_AT = 0x201;
const JPEG_SIZE = 0x202;
const PAIRS = [
  [STRIP_AT, STRIP_SIZE],
  [JPEG_AT, JPEG_SIZE],
] as const;

/** The largest JPEG inside a camera file that is made like TIFF (DNG, NEF, CR2, ARW, ORF, PEF); undefined without one. */
export async function rawPreview(file: FileHandle, size: number): Promise<Buffer | undefined> {
  const head = await read(file, 0, 8);
  const order = head.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return undefined;
  const tiff: Tiff = { file, size, little: order === 'II' };
  const places = await jpegsIn(tiff, u32(tiff, head, 4));
  for (const place of places.toSorted((a, b) => b.size - a.size)) {
    if (place.size > MOST_BYTES || place.at + place.size > size) continue;
    const bytes = await read(file, place.at, place.size);
    if (isShownJpeg(bytes)) return bytes;
  }
  return undefined;
}

interface Stretch {
  at: number;
  size: number;
}

/** A picture in one piece. */
function stretchOf([at, more]: readonly number[] = [], [size]: readonly number[] = []): Stretch[] {
  return at === undefined || size === undefined || more !== undefined ? [] : [{ at, size }];
}

/** Where the directories of the file say that pictures are. */
async function jpegsIn(tiff: Tiff, first: number): Promise<Stretch[]> {
  const found: Stretch[] = [];
  const waiting = [first];
  for (let seen = 0; waiting.length > 0 && seen < MOST_DIRECTORIES; seen += 1) {
    const { tags, next } = await directoryAt(tiff, waiting.shift() ?? 0);
    waiting.push(...(tags.get(SUB_DIRECTORIES) ?? []), ...(next === 0 ? [] : [next]));
    found.push(...PAIRS.flatMap(([place, length]) => stretchOf(tags.get(place), tags.get(length))));
  }
  return found;
}

interface Tiff {
  file: FileHandle;
  size: number;
  little: boolean;
}

async function read(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, at);
  return buffer.subarray(0, bytesRead);
}

const u16 = ({ little }: Tiff, bytes: Buffer, at: number): number =>
  little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
const u32 = ({ little }: Tiff, bytes: Buffer, at: number): number =>
  little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);

async function directoryAt(tiff: Tiff, at: number): Promise<{ tags: Map<number, number[]>; next: number }> {
  const tags = new Map<number, number[]>();
  if (at < 8 || at + 2 > tiff.size) return { tags, next: 0 };
  const count = Math.min(MOST_ENTRIES, u16(tiff, await read(tiff.file, at, 2), 0));
  const bytes = await read(tiff.file, at + 2, count * 12 + 4);
  if (bytes.length < count * 12 + 4) return { tags, next: 0 };
  for (let i = 0; i < count; i += 1) {
    const tag = u16(tiff, bytes, i * 12);
    if ([SUB_DIRECTORIES, STRIP_AT, STRIP_SIZE, JPEG_AT, JPEG_SIZE].includes(tag))
      tags.set(tag, await valuesOf(tiff, bytes.subarray(i * 12)));
  }
  return { tags, next: u32(tiff, bytes, count * 12) };
}

/** The values of an entry: within it, or where it points to. */
async function valuesOf(tiff: Tiff, entry: Buffer): Promise<number[]> {
  const width = u16(tiff, entry, 2) === 3 ? 2 : 4;
  const count = Math.min(MOST_DIRECTORIES, u32(tiff, entry, 4));
  const bytes = count * width <= 4 ? entry.subarray(8) : await read(tiff.file, u32(tiff, entry, 8), count * width);
  if (bytes.length < count * width) return [];
  return Array.from({ length: count }, (_, i) => (width === 2 ? u16(tiff, bytes, i * 2) : u32(tiff, bytes, i * 4)));
}

/** A baseline or progressive JPEG; the lossless ones hold the sensor's data. */
function isShownJpeg(bytes: Buffer): boolean {
  if (bytes.readUInt16BE(0) !== 0xffd8) return false;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker >= 0xffc0 && marker <= 0xffc2) return true;
    if (marker < 0xff01 || (marker > 0xffc2 && marker < 0xffd0 && marker !== 0xffc4)) return false;
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return false;
}

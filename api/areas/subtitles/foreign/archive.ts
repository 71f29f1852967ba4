// ZIP and gzip files with subtitles. Names inside are compared and shown, and never become a path.
import { gunzipSync, inflateRawSync } from 'node:zlib';

/** Limit of an unpacked text. */
export const MOST_TEXT_BYTES = 5 << 20;
const MOST_ENTRIES = 2000;
const MOST_NAME = 500;
const SUBTITLE = /\.(?:srt|ass|ssa|vtt|sub|txt|smi|sami|ttml|dfxp|xml)$/i;

/** Name of a file that can be a text subtitle. */
export const isSubtitleName = (name: string): boolean => SUBTITLE.test(name);

export interface Entry {
  name: string;
  size: number;
  packed: number;
  method: number;
  /** Of the entry's own head. */
  at: number;
}

export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

const END = 0x06054b50;
const HEAD = 0x02014b50;
const LOCAL = 0x04034b50;

/** Entries that can be subtitles, from the directory at the end of a ZIP file. Broken parts are left out. */
export function zipEntries(bytes: Buffer): Entry[] {
  const end = endOf(bytes);
  if (end < 0) return [];
  const count = Math.min(bytes.readUInt16LE(end + 10), MOST_ENTRIES);
  let at = bytes.readUInt32LE(end + 16);
  const found: Entry[] = [];
  for (let n = 0; n < count && at + 46 <= bytes.length && bytes.readUInt32LE(at) === HEAD; n += 1) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const entry = entryAt(bytes, at, name);
    if (entry && isSubtitleName(entry.name) && !isEncrypted(bytes, at) && !isOutside(entry.name)) found.push(entry);
    at += 46 + name + extra + comment;
  }
  return found;
}

const isEncrypted = (bytes: Buffer, at: number): boolean => (bytes.readUInt16LE(at + 8) & 1) === 1;

/** An absolute name or one with `..` is an attempt to write elsewhere; it comes from no honest archive. */
const isOutside = (name: string): boolean =>
  /^(?:[/\\]|[a-z]:)/i.test(name) || name.split(/[/\\]/).includes('..') || name.includes('\0');

function entryAt(bytes: Buffer, at: number, length: number): Entry | undefined {
  if (at + 46 + length > bytes.length || length > MOST_NAME) return undefined;
  return {
    name: bytes.toString('utf8', at + 46, at + 46 + length),
    method: bytes.readUInt16LE(at + 10),
    packed: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    at: bytes.readUInt32LE(at + 42),
  };
}

/** The end record, which a comment of up to 64 KiB may follow. */
function endOf(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - 22 - 0xffff);
  for (let at = bytes.length - 22; at >= first; at -= 1) if (bytes.readUInt32LE(at) === END) return at;
  return -1;
}

/** The bytes of an entry; undefined when it is broken or too large, whatever its head says. */
export function readEntry(bytes: Buffer, { at, packed, method }: Entry): Buffer | undefined {
  if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== LOCAL) return undefined;
  const start = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
  const stored = bytes.subarray(start, start + packed);
  if (method === 0) return stored.length <= MOST_TEXT_BYTES ? stored : undefined;
  return method === 8 ? within(() => inflateRawSync(stored, { maxOutputLength: MOST_TEXT_BYTES })) : undefined;
}

/** The unpacked text of a gzip file; undefined as for `readEntry`. */
export const readGzip = (bytes: Buffer): Buffer | undefined =>
  within(() => gunzipSync(bytes, { maxOutputLength: MOST_TEXT_BYTES }));

function within(unpack: () => Buffer): Buffer | undefined {
  try {
    return unpack();
  } catch {
    return undefined;
  }
}

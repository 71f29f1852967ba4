/** Reads and writes ISO base media boxes, as far as fragments need. */

export interface Box {
  type: string;
  /** Where the box begins in its buffer. */
  start: number;
  body: Buffer;
}

/** The boxes in `bytes`, one after another. Throws when one extends beyond the end. */
export function* boxesIn(bytes: Buffer): Generator<Box> {
  let at = 0;
  while (at + 8 <= bytes.length) {
    const { size, header } = boxHead(bytes, at) ?? { size: 0, header: 8 };
    if (size < header || at + size > bytes.length) throw new Error(`mp4: box at ${at} does not fit`);
    yield { type: bytes.toString('latin1', at + 4, at + 8), start: at, body: bytes.subarray(at + header, at + size) };
    at += size;
  }
}

/** Size of the box at `at`; undefined while too few bytes are there. Size 0 (to the end) is not supported. */
export function boxHead(bytes: Buffer, at: number): { size: number; header: number } | undefined {
  if (at + 8 > bytes.length) return undefined;
  const size = bytes.readUInt32BE(at);
  if (size !== 1) return { size, header: 8 };
  if (at + 16 > bytes.length) return undefined;
  return { size: Number(bytes.readBigUInt64BE(at + 8)), header: 16 };
}

export function findBox(bytes: Buffer, ...path: string[]): Buffer | undefined {
  let inside: Buffer | undefined = bytes;
  for (const type of path) {
    let found: Buffer | undefined;
    for (const box of boxesIn(inside)) {
      if (box.type === type) {
        found = box.body;
        break;
      }
    }
    if (!found) return undefined;
    inside = found;
  }
  return inside;
}

export const box = (type: string, ...parts: Buffer[]): Buffer => Buffer.concat([boxStart(type, parts), ...parts]);

/** Length and type of a box with these parts. */
export function boxStart(type: string, parts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(
    parts.reduce((sum, part) => sum + part.length, 8),
    0,
  );
  head.write(type, 4, 'latin1');
  return head;
}

/** A box with version and flags. */
export function fullBox(
  type: string,
  { version = 0, flags = 0 }: { version?: number; flags?: number },
  ...parts: Buffer[]
): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(version * 2 ** 24 + flags, 0);
  return box(type, head, ...parts);
}

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, i * 4);
  return bytes;
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value), 0);
  return bytes;
}

const CONTAINERS = new Set(['moov', 'trak', 'mdia']);
/** Edit lists and tags of ffmpeg: our times need no edit, and the bytes should not reveal a version. */
const UNWANTED = new Set(['edts', 'udta', 'meta']);

/** ftyp and moov without edit lists and tags: the init segment, the same whichever run of ffmpeg wrote it. */
export function cleanInit(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (const one of boxesIn(bytes)) {
    if (UNWANTED.has(one.type)) continue;
    parts.push(box(one.type, CONTAINERS.has(one.type) ? cleanInit(one.body) : one.body));
  }
  return Buffer.concat(parts);
}

/** Ticks per second of the only track. */
export function timescaleOf(init: Buffer): number {
  const mdhd = findBox(init, 'moov', 'trak', 'mdia', 'mdhd');
  if (!mdhd) throw new Error('mp4: no track');
  return mdhd.readUInt32BE(mdhd[0] === 1 ? 20 : 12);
}

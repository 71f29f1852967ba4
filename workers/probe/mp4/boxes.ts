import type { ByteSource } from '../byte-source.ts';
import { unsure } from '../fault.ts';

/** One box inside a loaded one. */
export interface Box {
  type: string;
  data: Buffer;
}

interface Head {
  type: string;
  /** Bytes of the head itself. */
  head: number;
  /** Bytes of head and content. */
  size: number;
}

const MAX_TOP = 10_000;
const MOOV_LIMIT = 256 * 1024 * 1024;

function headAt(bytes: Buffer, at: number, rest: number): Head | undefined {
  if (at + 8 > bytes.length) return undefined;
  const type = bytes.toString('latin1', at + 4, at + 8);
  const size = bytes.readUInt32BE(at);
  if (size === 0) return { type, head: 8, size: rest };
  if (size !== 1) return size < 8 ? undefined : { type, head: 8, size };
  if (at + 16 > bytes.length) return undefined;
  const large = Number(bytes.readBigUInt64BE(at + 8));
  return large < 16 ? undefined : { type, head: 16, size: large };
}

/** The boxes of a loaded one, as far as they are complete. */
export function* boxes(bytes: Buffer): Generator<Box> {
  let at = 0;
  while (at + 8 <= bytes.length) {
    const head = headAt(bytes, at, bytes.length - at);
    if (!head || at + head.size > bytes.length) return;
    yield { type: head.type, data: bytes.subarray(at + head.head, at + head.size) };
    at += head.size;
  }
}

/** The first box of a type, by a path such as `mdia/minf/stbl`. */
export function box(bytes: Buffer, path: string): Buffer | undefined {
  let data: Buffer | undefined = bytes;
  for (const type of path.split('/')) {
    data = data && [...boxes(data)].find((candidate) => candidate.type === type)?.data;
  }
  return data;
}

/** The box, which must exist. */
export function need(bytes: Buffer, path: string): Buffer {
  return box(bytes, path) ?? unsure(`no ${path}`);
}

export interface Top {
  moov: Buffer;
  /** The media data is truncated: a box ends beyond the file. */
  truncated: boolean;
}

const MAX_CUT = 4000;

/** Whether a box ends beyond the file. Of very many fragments only the first are examined. */
export async function isCut(source: ByteSource): Promise<boolean> {
  let at = 0;
  for (let i = 0; i < MAX_CUT && at < source.size; i += 1) {
    const head = headAt(await source.read(at, 16), 0, source.size - at);
    if (!head) return false;
    at += head.size;
  }
  return at > source.size;
}

/** Finds and loads the moov box; boxes before it are skipped by their heads. Fragmented files are not read here. */
export async function topOf(source: ByteSource): Promise<Top> {
  let moov: Buffer | undefined;
  let at = 0;
  let truncated = false;
  for (let i = 0; i < MAX_TOP && at < source.size; i += 1) {
    const head = headAt(await source.read(at, 16), 0, source.size - at);
    if (!head) break;
    if (head.type === 'moof') unsure('fragments');
    const whole = at + head.size <= source.size;
    if (!whole) truncated = true;
    if (head.type === 'moov' && whole && head.size < MOOV_LIMIT)
      moov = await source.read(at + head.head, head.size - head.head);
    at += head.size;
  }
  return { moov: moov ?? unsure('no moov'), truncated };
}

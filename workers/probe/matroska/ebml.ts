import type { ByteSource } from '../byte-source.ts';
import { unsure } from '../fault.ts';

/** One element inside a loaded one. */
export interface Element {
  id: number;
  data: Buffer;
}

/** An element in the file: where its content begins and its length (`unknown` if declared so). */
export interface Placed {
  id: number;
  at: number;
  size: number;
  unknown: boolean;
}

interface Vint {
  value: number;
  length: number;
  unknown: boolean;
}

/** A variable-length number without its marker, as in sizes and track numbers. */
export function vint(bytes: Buffer, at: number): Vint | undefined {
  const first = bytes[at] ?? 0;
  const length = first === 0 ? 9 : Math.clz32(first) - 23;
  if (length > 8 || at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  let ones = value === 0xff >> length;
  for (let i = 1; i < length; i += 1) {
    const byte = bytes[at + i] ?? 0;
    value = value * 256 + byte;
    ones &&= byte === 0xff;
  }
  return { value, length, unknown: ones };
}

function idAt(bytes: Buffer, at: number): { id: number; length: number } | undefined {
  const first = bytes[at] ?? 0;
  const length = first === 0 ? 9 : Math.clz32(first) - 23;
  if (length > 4 || at + length > bytes.length) return undefined;
  return { id: bytes.readUIntBE(at, length), length };
}

/** The elements of a loaded one, as far as they are complete. */
export function* elements(bytes: Buffer): Generator<Element> {
  let at = 0;
  while (at < bytes.length) {
    const id = idAt(bytes, at);
    const size = id && vint(bytes, at + id.length);
    if (!id || !size || size.unknown) return;
    const start = at + id.length + size.length;
    if (start + size.value > bytes.length) return;
    yield { id: id.id, data: bytes.subarray(start, start + size.value) };
    at = start + size.value;
  }
}

/** The head of the element at `at` in the file. */
export async function placedAt(source: ByteSource, at: number): Promise<Placed | undefined> {
  const head = await source.read(at, 12);
  const id = idAt(head, 0);
  const size = id && vint(head, id.length);
  if (!id || !size) return undefined;
  return { id: id.id, at: at + id.length + size.length, size: size.value, unknown: size.unknown };
}

/** The whole content of an element; undefined beyond `limit` bytes or the end of the file. */
export async function load(source: ByteSource, placed: Placed, limit: number): Promise<Buffer> {
  if (placed.unknown || placed.size > limit || placed.at + placed.size > source.size) unsure('element size');
  return source.read(placed.at, placed.size);
}

export function uint(data: Buffer): number {
  let value = 0;
  for (const byte of data.subarray(0, 8)) value = value * 256 + byte;
  return value;
}

export function float(data: Buffer): number {
  if (data.length === 4) return data.readFloatBE(0);
  return data.length === 8 ? data.readDoubleBE(0) : 0;
}

export function text(data: Buffer): string {
  const end = data.indexOf(0);
  return data.subarray(0, end < 0 ? undefined : end).toString('utf8');
}

/** The first element with this id. */
export function child(bytes: Buffer, id: number): Buffer | undefined {
  for (const element of elements(bytes)) if (element.id === id) return element.data;
  return undefined;
}

/** All elements with this id. */
export function children(bytes: Buffer, id: number): Buffer[] {
  return [...elements(bytes)].filter((element) => element.id === id).map((element) => element.data);
}

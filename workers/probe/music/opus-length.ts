import { open } from 'node:fs/promises';

const HEAD = 512;
/** A page holds at most 65,307 bytes, so the last one begins within these. */
const TAIL = 65_307 * 2;
const RATE = 48_000;
const PRE_SKIP = 10;
const GRANULE = 6;

/** Length of an Opus file in seconds: the position of its last page, without the samples that a decoder skips. */
export async function opusSeconds(path: string): Promise<number | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const head = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  const tail = await file.read(Buffer.alloc(TAIL), 0, TAIL, Math.max(0, size - TAIL));
  const opus = head.buffer.indexOf('OpusHead');
  const last = tail.buffer.subarray(0, tail.bytesRead).lastIndexOf('OggS');
  if (opus < 0 || opus + PRE_SKIP + 2 > head.bytesRead || last < 0 || last + GRANULE + 8 > tail.bytesRead)
    return undefined;
  const position = Number(tail.buffer.readBigInt64LE(last + GRANULE));
  const samples = position - head.buffer.readUInt16LE(opus + PRE_SKIP);
  return samples > 0 ? samples / RATE : undefined;
}

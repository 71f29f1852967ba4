import { openBytes } from '#platform/media-bytes.ts';
import { type ReadAt, sampledHashOf } from '#platform/sampled-hash.ts';
import type { Stretch } from './probed.ts';

const PIECE = 16 * 1024;
const NOTHING = Buffer.alloc(PIECE);

/** Result of sampling a file. */
export interface Sampled {
  hash: Buffer;
  /** Ranges of zeros in the sampled blocks, in pieces of 16 KiB: possibly allocated space that was never written. */
  zeros: Stretch[];
}

/** The sampled hash of a file at a path or at the address of a range reader. */
export async function sampledHash(path: string, size: number): Promise<Sampled> {
  const file = await openBytes(path);
  try {
    return await sampled((at, length) => file.read(at, length), size);
  } finally {
    await file.close();
  }
}

/** The sampled hash of an open file. */
export async function sampled(read: ReadAt, size: number): Promise<Sampled> {
  const zeros: Stretch[] = [];
  const hash = await sampledHashOf(read, size, (block, at) => zeros.push(...zerosIn(block, at)));
  return { hash, zeros };
}

/** Runs of zero pieces; the check of a piece ends at its first other byte. */
function zerosIn(block: Buffer, from: number): Stretch[] {
  const found: Stretch[] = [];
  for (let at = 0; at + PIECE <= block.length; at += PIECE) {
    if (!block.subarray(at, at + PIECE).equals(NOTHING)) continue;
    const last = found.at(-1);
    if (last && last.at + last.size === from + at) last.size += PIECE;
    else found.push({ at: from + at, size: PIECE });
  }
  return found;
}

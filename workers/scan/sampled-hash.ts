import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Stretch } from '#workers/probe/probe.ts';

const BLOCK = 64 * 1024;
const SPREAD = 6;

const PIECE = 16 * 1024;
const NOTHING = Buffer.alloc(PIECE);

/** Result of sampling a file. */
export interface Sampled {
  hash: Buffer;
  /** Ranges of zeros in the sampled blocks, in pieces of 16 KiB: possibly allocated space that was never written. */
  zeros: Stretch[];
}

/**
 * Hash of the first, the last and six spread 64 KiB blocks, which with the size recognizes a moved file. SHA-256,
 * because Node has no BLAKE3; the stored bytes begin with a version, so that another hash can follow.
 */
export async function sampledHash(path: string, size: number): Promise<Sampled> {
  const hash = createHash('sha256');
  const zeros: Stretch[] = [];
  const file = await open(path, 'r');
  try {
    const block = Buffer.allocUnsafe(BLOCK);
    for (const at of offsets(size)) {
      const { bytesRead } = await file.read(block, 0, BLOCK, at);
      hash.update(block.subarray(0, bytesRead));
      zeros.push(...zerosIn(block.subarray(0, bytesRead), at));
    }
  } finally {
    await file.close();
  }
  return { hash: Buffer.concat([Buffer.from([1]), hash.digest()]), zeros };
}

/** Offsets of the blocks; a small file is read whole. */
function offsets(size: number): number[] {
  const whole = BLOCK * (SPREAD + 2);
  if (size <= whole) return Array.from({ length: Math.ceil(size / BLOCK) }, (_, i) => i * BLOCK);
  const last = size - BLOCK;
  return Array.from({ length: SPREAD + 2 }, (_, i) => Math.floor((last * i) / (SPREAD + 1)));
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

import { openBytes } from '#platform/media-bytes.ts';
import { sampledHashOf } from '#platform/sampled-hash.ts';
import type { Stretch } from '#workers/probe/probe.ts';

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
  const zeros: Stretch[] = [];
  const file = await openBytes(path);
  try {
    const hash = await sampledHashOf(
      (at, length) => file.read(at, length),
      size,
      (block, at) => zeros.push(...zerosIn(block, at)),
    );
    return { hash, zeros };
  } finally {
    await file.close();
  }
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

import { createHash } from 'node:crypto';

const BLOCK = 64 * 1024;
const SPREAD = 6;

/** Bytes of a file from an offset; fewer than `length` only at its end. */
export type ReadAt = (at: number, length: number) => Promise<Buffer>;

/**
 * Hash of the first, the last and six spread 64 KiB blocks, which with the size recognizes a moved file. SHA-256,
 * because Node has no BLAKE3; the stored bytes begin with a version, so that another hash can follow. `take` gets each
 * block.
 */
export async function sampledHashOf(
  read: ReadAt,
  size: number,
  take: (block: Buffer, at: number) => void = () => undefined,
): Promise<Buffer> {
  const hash = createHash('sha256');
  for (const at of offsets(size)) {
    const block = await read(at, BLOCK);
    hash.update(block);
    take(block, at);
  }
  return Buffer.concat([Buffer.from([1]), hash.digest()]);
}

/** Offsets of the blocks; a small file is read whole. */
function offsets(size: number): number[] {
  const whole = BLOCK * (SPREAD + 2);
  if (size <= whole) return Array.from({ length: Math.ceil(size / BLOCK) }, (_, i) => i * BLOCK);
  const last = size - BLOCK;
  return Array.from({ length: SPREAD + 2 }, (_, i) => Math.floor((last * i) / (SPREAD + 1)));
}

import { open } from 'node:fs/promises';

const PART = 64 << 10;
const MASK = (1n << 64n) - 1n;

/**
 * The hash by which providers know a film: its size and the sums of the first and last 64 KiB as 64-bit numbers.
 * Two ranged reads; undefined for a file that is too small.
 */
export async function movieHashOf(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size < PART) return undefined;
    const parts = await Promise.all([0, size - PART].map((at) => file.read(Buffer.alloc(PART), 0, PART, at)));
    if (parts.some(({ bytesRead }) => bytesRead !== PART)) return undefined;
    const sum = parts.reduce((total, { buffer }) => total + sumOf(buffer), BigInt(size));
    return (sum & MASK).toString(16).padStart(16, '0');
  } finally {
    await file.close();
  }
}

function sumOf(part: Buffer): bigint {
  let sum = 0n;
  for (let at = 0; at < PART; at += 8) sum += part.readBigUInt64LE(at);
  return sum;
}

import type { Print } from '#areas/libraries/public.ts';
import type { FileSource } from '#areas/streaming/public.ts';
import { bitsOf } from '../analysis/intros/match.ts';
import { printOf, printOptions, soundStream } from '../analysis/intros/sound.ts';
import { collect, readByFfmpeg } from '../analysis/run.ts';
import type { Work } from '../work.ts';

const HEARD_SEC = 120;
const PATIENCE_MS = 120_000;
const MOST_BYTES = 1 << 16;

/** Chromaprint of the first two minutes, and 64 bits of it to find others by. Undefined for a file without sound. */
export async function soundPrint({ signal }: Work, { probe }: FileSource, file: string): Promise<Print | undefined> {
  const stream = probe && soundStream(probe);
  if (!stream) return undefined;
  let print: Buffer = Buffer.alloc(0);
  const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
    print = await collect(output, MOST_BYTES);
  };
  const reading = ['-t', String(HEARD_SEC), '-vn', '-sn', '-dn'];
  const outputs = [{ writing: printOptions(stream), take }];
  const read = await readByFfmpeg({ file, probe, reading, outputs, signal, patienceMs: PATIENCE_MS });
  return read && print.length >= 8 ? { hash: usualBits(printOf(print)), print } : undefined;
}

/** Each of the 32 bits as most numbers of the first half have it, then of the second half: 16 hexadecimal digits. */
export function usualBits(print: Uint32Array): string {
  const half = print.length >> 1;
  return [print.subarray(0, half), print.subarray(half)]
    .map((part) => {
      let bits = 0;
      for (let bit = 0; bit < 32; bit += 1) {
        let set = 0;
        for (const value of part) set += (value >>> bit) & 1;
        if (set * 2 > part.length) bits |= 1 << bit;
      }
      return (bits >>> 0).toString(16).padStart(8, '0');
    })
    .join('');
}

/** How far one recording may begin later than the other, in numbers of a print: three seconds. */
const SHIFT = 24;
const LEAST_COMMON = 16;

/** Differing bits of 64 at the best shift of two prints. */
export function soundDistance(a: Buffer, b: Buffer): number {
  const [one, other] = [printOf(a), printOf(b)];
  let best = 64;
  for (let shift = -SHIFT; shift <= SHIFT; shift += 1) {
    const from = Math.max(0, -shift);
    const to = Math.min(one.length, other.length - shift);
    if (to - from < LEAST_COMMON) continue;
    let bits = 0;
    for (let i = from; i < to; i += 1) bits += bitsOf(((one[i] ?? 0) ^ (other[i + shift] ?? 0)) >>> 0);
    best = Math.min(best, Math.round((bits * 2) / (to - from)));
  }
  return best;
}

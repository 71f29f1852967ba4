import type { Print } from '#areas/libraries/public.ts';
import type { FileSource } from '#areas/streaming/public.ts';
import { PHASH_SIDE, phash } from '#platform/phash.ts';
import { collect, readByFfmpeg } from '../analysis/run.ts';
import { filmStream } from '../artwork/still.ts';
import type { Work } from '../work.ts';

const FRAMES = 25;
const COLUMNS = 5;
/** Of one frame in the grid that is hashed. */
const SIDE = 32;
const PATIENCE_MS = 60_000;

/** A perceptual hash of 25 frames evenly taken, in a grid. Undefined for a film that cannot be read there. */
export async function videoHash({ signal }: Work, { probe }: FileSource, file: string): Promise<Print | undefined> {
  const stream = probe && filmStream(probe);
  if (!stream) return undefined;
  const frames: Buffer[] = [];
  for (let n = 0; n < FRAMES; n += 1) {
    const atSec = (((n + 0.5) / FRAMES) * probe.durationMs) / 1000;
    const writing = [
      ...['-map', `0:${stream.index}`, '-frames:v', '1', '-vf', `scale=w=${SIDE}:h=${SIDE}:flags=area,format=gray`],
      ...['-c:v', 'rawvideo', '-f', 'rawvideo'],
    ];
    const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
      frames.push(await collect(output, SIDE * SIDE));
    };
    const reading = ['-ss', atSec.toFixed(3), '-an', '-sn', '-dn'];
    await readByFfmpeg({ file, probe, reading, outputs: [{ writing, take }], signal, patienceMs: PATIENCE_MS });
    if (frames[n]?.length !== SIDE * SIDE) return undefined;
  }
  return { hash: phash(smallGrid(frames)) };
}

/** The grid of all frames, reduced to the size of a hash by the mean of each area. */
export function smallGrid(frames: readonly Uint8Array[]): Uint8Array {
  const part = (COLUMNS * SIDE) / PHASH_SIDE;
  return Uint8Array.from({ length: PHASH_SIDE * PHASH_SIDE }, (_, at) => {
    const [left, top] = [(at % PHASH_SIDE) * part, Math.floor(at / PHASH_SIDE) * part];
    let sum = 0;
    for (let y = top; y < top + part; y += 1)
      for (let x = left; x < left + part; x += 1) {
        const frame = frames[Math.floor(y / SIDE) * COLUMNS + Math.floor(x / SIDE)];
        sum += frame?.[(y % SIDE) * SIDE + (x % SIDE)] ?? 0;
      }
    return Math.round(sum / (part * part));
  });
}

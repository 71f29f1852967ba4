import type { ProbedFile, ProbedStream } from '#platform/media.ts';
import { collect, readByFfmpeg } from '../run.ts';

/** Rises when the form of a stored sound changes. */
export const SOUND_VERSION = 3;
/** Samples a second, of one channel: what chromaprint works with. */
const RATE = 11_025;
/** Seconds between two numbers of a chromaprint: a third of 4096 samples. */
export const POINT_SEC = 1365 / RATE;
/** Milliseconds of one loudness. */
export const STEP_MS = 20;

const STEP_SAMPLES = (RATE * STEP_MS) / 1000;
/**
 * The sound is resampled once for both outputs, in large frames: a frame of AAC costs as much as its samples. The filter is that of
 * fpcalc, half as long as the one of ffmpeg: chromaprint uses nothing above 4 kHz.
 */
const ONCE = `asetnsamples=n=32768:p=0,aresample=${RATE}:filter_size=16:phase_shift=8:cutoff=0.8:osf=s16:ochl=mono,asplit[print][meter]`;
/** An opening lies in the first quarter, and within ten minutes. */
const MOST_MS = 600_000;
const LEAST_MS = 60_000;
const PART = 0.25;
const PATIENCE_MS = 300_000;

/** The sound of the beginning of a film. */
export interface Sound {
  /** Chromaprint: 32 bits about each 0.12 s and the 2.3 s after it. */
  print: Uint32Array;
  /** Half decibels above -96 dB, for each 20 ms. */
  loudness: Uint8Array;
}

export const soundStream = (probe: ProbedFile): ProbedStream | undefined =>
  probe.streams.find((stream) => stream.kind === 'audio');

/** How much of a film is listened to, ms. */
export const heardMs = (durationMs: number): number =>
  Math.min(durationMs, MOST_MS, Math.max(LEAST_MS, durationMs * PART));

/** Options of the output that prints the sound of a stream. */
export const printOptions = (stream: ProbedStream): string[] => [
  ...['-map', `0:${stream.index}`, '-c:a', 'pcm_s16le', '-ac', '2', '-f', 'chromaprint', '-fp_format', 'raw'],
];

/** Undefined for a file without sound, or one that cannot be read. */
export async function soundOf(file: string, probe: ProbedFile, signal: AbortSignal): Promise<Sound | undefined> {
  const stream = soundStream(probe);
  if (!stream) return undefined;
  const lengthMs = heardMs(probe.durationMs);
  let print: Buffer = Buffer.alloc(0);
  const meter = new Meter();
  const outputs = [
    {
      writing: [
        ...['-filter_complex', `[0:${stream.index}]${ONCE}`, '-map', '[print]', '-c:a', 'pcm_s16le'],
        ...['-f', 'chromaprint', '-fp_format', 'raw'],
      ],
      take: async (output: AsyncIterable<Buffer>) => {
        print = await collect(output, 1 << 20);
      },
    },
    {
      writing: ['-map', '[meter]', '-c:a', 'pcm_mulaw', '-f', 'mulaw'],
      take: async (output: AsyncIterable<Buffer>) => {
        for await (const chunk of output) meter.add(chunk);
      },
    },
  ];
  const reading = ['-t', (lengthMs / 1000).toFixed(3), '-vn', '-sn', '-dn'];
  const read = await readByFfmpeg({ file, probe, reading, outputs, signal, patienceMs: PATIENCE_MS });
  if (!read || print.length < 4) return undefined;
  return { print: printOf(print), loudness: meter.loudness() };
}

export function printOf(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readUInt32LE(i * 4));
}

export const printBytes = (print: Uint32Array): Buffer => {
  const bytes = Buffer.alloc(print.length * 4);
  for (const [i, value] of print.entries()) bytes.writeUInt32LE(value, i * 4);
  return bytes;
};

/** Squares of the 16-bit samples that the bytes of mu-law stand for: exact to a quarter of a decibel, in half the bytes. */
const SQUARES = Float64Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte & 0xff;
  const magnitude = ((((code & 15) << 3) + 132) << ((code >> 4) & 7)) - 132;
  return magnitude ** 2;
});

/** The loudness of samples of mu-law as they come. */
class Meter {
  readonly #steps: number[] = [];
  #samples = 0;
  #sum = 0;

  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const left = Math.ceil((this.#steps.length + 1) * STEP_SAMPLES) - this.#samples;
      const end = Math.min(chunk.length, at + left);
      this.#sum += squares(chunk, at, end);
      this.#samples += end - at;
      if (end - at === left) this.#step();
      at = end;
    }
  }

  /** A step has 220 or 221 samples. */
  #step(): void {
    this.#steps.push(halfDecibels(this.#sum / STEP_SAMPLES));
    this.#sum = 0;
  }

  loudness(): Uint8Array {
    return Uint8Array.from(this.#steps);
  }
}

function squares(samples: Buffer, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum += SQUARES[samples[at] as number] as number;
  return sum;
}

/** Of a mean square of 16-bit samples: 0 for -96 dB and below, 192 for full scale. */
function halfDecibels(square: number): number {
  if (square <= 0) return 0;
  return Math.max(0, Math.min(192, Math.round(2 * (96 + 10 * Math.log10(square / 32_768 ** 2)))));
}

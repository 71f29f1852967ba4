// Black pictures and silent sound as they come from ffmpeg, as spans of the recording. Pure.
import type { Span } from '../../analysis/intros/match.ts';

/** Collects the spans in which steps of a fixed length hold. */
export class Spans {
  readonly all: Span[] = [];
  readonly #fromMs: number;
  readonly #stepMs: number;
  #steps = 0;

  constructor(fromMs: number, stepMs: number) {
    this.#fromMs = fromMs;
    this.#stepMs = stepMs;
  }

  add(holds: boolean): void {
    const startMs = Math.round(this.#fromMs + this.#steps * this.#stepMs);
    this.#steps += 1;
    const endMs = Math.round(this.#fromMs + this.#steps * this.#stepMs);
    if (!holds) return;
    const last = this.all.at(-1);
    if (last && last.endMs === startMs) last.endMs = endMs;
    else this.all.push({ startMs, endMs });
  }
}

/** A span that goes on over the end of a stretch is one. */
const SEAM_MS = 100;

export function append(before: readonly Span[], next: readonly Span[]): Span[] {
  const [first, ...others] = next;
  const last = before.at(-1);
  if (!first || !last || first.startMs - last.endMs > SEAM_MS) return [...before, ...next];
  return [...before.slice(0, -1), { startMs: last.startMs, endMs: first.endMs }, ...others];
}

/** Of 255; black in video is 16. */
const BLACK = 36;
/** The logo may stay on black. */
const LEAST_BLACK = 0.95;

export function isBlackPicture(picture: Uint8Array): boolean {
  const most = (1 - LEAST_BLACK) * picture.length;
  let light = 0;
  for (const value of picture) {
    if (value < BLACK) continue;
    light += 1;
    if (light > most) return false;
  }
  return true;
}

/** Mean square of 16-bit samples at -50 dB. */
const SILENT = 32_768 ** 2 * 1e-5;

export function isSilent(samples: Buffer): boolean {
  let sum = 0;
  for (let at = 0; at + 1 < samples.length; at += 2) sum += samples.readInt16LE(at) ** 2;
  return sum * 2 <= SILENT * samples.length;
}

/** Calls with each part of exactly this many bytes. */
export async function eachPart(
  output: AsyncIterable<Buffer>,
  bytes: number,
  take: (part: Buffer) => void,
): Promise<void> {
  let left: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    left = left.length > 0 ? Buffer.concat([left, chunk]) : chunk;
    let at = 0;
    for (; at + bytes <= left.length; at += bytes) take(left.subarray(at, at + bytes));
    left = left.subarray(at);
  }
}

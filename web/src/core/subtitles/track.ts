// The cues of one track by time.
import type { Cue } from './vtt.ts';

/** Shown at once at most; more would cover the picture. */
const MOST_SHOWN = 6;

export interface Timed {
  startMs: number;
  endMs: number;
}

export class CueTrack<T extends Timed> {
  readonly #cues: readonly T[];
  /** The latest end among the cues up to each one: where a look back may stop. */
  readonly #ends: Float64Array;

  constructor(cues: readonly T[]) {
    this.#cues = cues.toSorted((a, b) => a.startMs - b.startMs);
    this.#ends = new Float64Array(this.#cues.length);
    let latest = 0;
    for (const [i, { endMs }] of this.#cues.entries()) {
      latest = Math.max(latest, endMs);
      this.#ends[i] = latest;
    }
  }

  get size(): number {
    return this.#cues.length;
  }

  /** The cues of a moment, first begun first; of too many the last begun. */
  at(ms: number, most: number = MOST_SHOWN): T[] {
    const found: T[] = [];
    for (let i = this.#last(ms); i >= 0 && (this.#ends[i] ?? 0) > ms && found.length < most; i -= 1) {
      const cue = this.#cues[i];
      if (cue && cue.endMs > ms) found.push(cue);
    }
    return found.reverse();
  }

  /** Those that begin after `fromMs` and before `toMs`, the first `most` of them. */
  between(fromMs: number, toMs: number, most: number): T[] {
    const first = this.#last(fromMs) + 1;
    return this.#cues.slice(first, Math.min(first + most, this.#last(toMs - 1) + 1));
  }

  /** The index of the last cue that begins at or before a moment. */
  #last(ms: number): number {
    let [low, high] = [0, this.#cues.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#cues[middle]?.startMs ?? 0) <= ms) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

export const isSame = (a: readonly Cue[], b: readonly Cue[]): boolean =>
  a.length === b.length && a.every((cue, i) => cue === b[i]);

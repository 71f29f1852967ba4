// The cues of one track by time.
import type { Cue } from './vtt.ts';

/** Shown at once at most; more would cover the picture. */
const MOST_SHOWN = 6;

export class CueTrack {
  readonly #cues: readonly Cue[];
  /** The latest end among the cues up to each one: where a look back may stop. */
  readonly #ends: Float64Array;

  constructor(cues: readonly Cue[]) {
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

  /** The cues of a moment, first begun first. */
  at(ms: number): Cue[] {
    const found: Cue[] = [];
    for (let i = this.#last(ms); i >= 0 && (this.#ends[i] ?? 0) > ms && found.length < MOST_SHOWN; i -= 1) {
      const cue = this.#cues[i];
      if (cue && cue.endMs > ms) found.push(cue);
    }
    return found.reverse();
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

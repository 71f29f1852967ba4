// When the viewer reached the current position. A player that stands still reports the same time again and again, so that
// its reports are never newer than what another device has played since.
import type { Reading } from './reading.ts';

/** A reload shows a picture this near to the position. */
const NEAR_MS = 1000;

export class Reached {
  #last: { positionMs: number; at: number; isPlaying: boolean } | undefined;

  /** The time of a reading, in milliseconds since 1970. */
  at({ state, positionMs }: Reading, now: number): number {
    const isPlaying = state === 'playing';
    const last = this.#last;
    const isStill = last && !last.isPlaying && !isPlaying && Math.abs(last.positionMs - positionMs) < NEAR_MS;
    if (isStill) return last.at;
    this.#last = { positionMs, at: now, isPlaying };
    return now;
  }

  /** The next reading is a new act of the person. */
  forget(): void {
    this.#last = undefined;
  }
}

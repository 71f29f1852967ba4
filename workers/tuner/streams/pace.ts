/** Whether bytes may wait for a moment; they never do without it. */
export type Rests = (() => boolean) | undefined;

/** So much waits in the kernel at most: it fits in the first receive window of a connection, so that no sender has to wait. */
const WAITING_BYTES = 56 << 10;
const LONGEST_MS = 100;
/** Pauses end on beats, at which the sockets of all channels are read: each reading wakes the process, and ffmpeg after it. */
const BEAT_MS = 10;
/** The part of the last pause in the rate. */
const WEIGHT = 0.25;

/** Pauses between the readings of one stream, by its rate. */
export class Pace {
  readonly #rests: Rests;
  #readAt = performance.now();
  /** Bytes a millisecond. */
  #rate = 0;

  constructor(rests?: Rests) {
    this.#rests = rests;
  }

  /** Lets bytes arrive for the next reading; undefined where none may wait. */
  rest(bytes: number): Promise<void> | undefined {
    const now = performance.now();
    this.#rate += WEIGHT * (bytes / Math.max(1, now - this.#readAt) - this.#rate);
    this.#readAt = now;
    const ms = Math.min(LONGEST_MS, WAITING_BYTES / this.#rate);
    if (ms < 2 * BEAT_MS || !this.#rests?.()) return undefined;
    const until = Math.floor((now + ms) / BEAT_MS) * BEAT_MS;
    return new Promise((resolve) => {
      setTimeout(resolve, until - now);
    });
  }
}

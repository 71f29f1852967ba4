import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes per second, of all streams of a run together. */
export class Pace {
  readonly #perSecond: number | null;
  #free = performance.now();

  constructor(perSecond: number | null) {
    this.#perSecond = perSecond;
  }

  /** Waits until this many bytes may pass. */
  async take(bytes: number): Promise<void> {
    if (this.#perSecond === null) return;
    const begins = Math.max(this.#free, performance.now());
    this.#free = begins + (bytes / this.#perSecond) * 1000;
    const early = begins - performance.now();
    if (early > 1) await sleep(early);
  }
}

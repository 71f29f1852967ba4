import { setImmediate } from 'node:timers/promises';

const HELD_MS = 20;

/** Long work of names and rows lets others go on: it holds the event loop for some milliseconds at a time. */
export class Breath {
  #since = performance.now();

  /** Whether it is time for `take`. */
  get isDue(): boolean {
    return performance.now() - this.#since > HELD_MS;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}

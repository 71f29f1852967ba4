import { setImmediate } from 'node:timers/promises';

const HELD_MS = 20;

/**
 * Lets other work run during long work on names and rows, which may hold the event loop for a few milliseconds at a
 * time.
 */
export class Breath {
  #since = performance.now();

  /** Whether `take` is due. */
  get isDue(): boolean {
    return performance.now() - this.#since > HELD_MS;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}

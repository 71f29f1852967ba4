import { setTimeout as sleep } from 'node:timers/promises';

/** A job that crashes its worker usually does so within this time; after it, the next suspect may start. */
const ALONE_MS = 60_000;

/**
 * Starts jobs that lost their worker one after the other in this process, so that only the job that crashes workers is
 * lost again. Without it, a job that happens to run next to one would be given up with it.
 */
export class Suspects {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Runs `work` once the suspect before it has ended, made progress (it calls `cleared`), or run for a minute.
   */
  async run(work: (cleared: () => void) => Promise<void>): Promise<void> {
    const before = this.#last;
    const { promise: cleared, resolve } = Promise.withResolvers<void>();
    const late = new AbortController();
    const waited = (): Promise<void> => sleep(ALONE_MS, undefined, { signal: late.signal });
    this.#last = before.then(() => Promise.race([cleared, waited()])).catch(() => undefined);
    await before;
    try {
      await work(resolve);
    } finally {
      resolve();
      late.abort();
    }
  }
}

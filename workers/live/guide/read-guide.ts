import { Worker } from 'node:worker_threads';
import type { Message, Read, Reading } from './reading.ts';
import { GuideRefused } from './refused.ts';

/** The young generation is small as an entry lives briefly. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 12 };

/**
 * Reads a guide in a thread of its own, so that its size blocks nothing. Yields lines of COPY; returns the counts.
 * Throws `GuideRefused`.
 */
export async function* readGuide(reading: Reading, signal: AbortSignal): AsyncGenerator<string, Read> {
  const thread = new Worker(new URL('./reader-thread.ts', import.meta.url), {
    workerData: reading,
    resourceLimits: MEMORY,
  });
  const messages: Message[] = [];
  let failed: Error | undefined;
  let wake = (): void => undefined;
  const note = (change: () => void) => (): void => {
    change();
    wake();
  };
  const fail = (error: Error): void =>
    note(() => {
      failed ??= error;
    })();
  thread.on('message', (one: Message) => note(() => messages.push(one))());
  thread.on('error', () => fail(new GuideRefused('unreadable', 'the guide needs too much memory, or cannot be read')));
  thread.on('exit', () => fail(new GuideRefused('unreadable', 'the reading of the guide ended')));
  const stop = (): void => fail(new Error('stopped'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const one = messages.shift();
      if (one && 'done' in one) return one.done;
      if (one && 'refused' in one) throw new GuideRefused(one.refused.code, one.refused.message);
      if (one) {
        yield one.lines;
        thread.postMessage('more');
      } else if (failed) throw failed;
      else
        await new Promise<void>((done) => {
          wake = done;
        });
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

import type { Writable } from 'node:stream';

/** Resolves when the pipe takes more bytes, or when it is closed or the reception stops. */
export async function roomIn(input: Writable, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      input.off('drain', done);
      input.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    input.once('drain', done);
    input.once('close', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Resolves with the work, or when the reception stops. */
export async function before(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener('abort', stopped.resolve as () => void, { once: true });
  try {
    await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stopped.resolve as () => void);
  }
}

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

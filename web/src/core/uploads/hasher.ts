import type { FromHash, ToHash } from './hash.worker.ts';

/** SHA-256 of pieces of files, in hex. */
export interface Hasher {
  /** Fails when the file can no longer be read. */
  of(piece: Blob): Promise<string>;
}

/** A hasher in a worker that starts with the first piece. */
export function workerHasher(): Hasher {
  let worker: Worker | undefined;
  let last = 0;
  const waiting = new Map<number, PromiseWithResolvers<string>>();
  const start = (): Worker => {
    const made = new Worker(new URL('./hash.worker.ts', import.meta.url), { type: 'module' });
    made.addEventListener('message', ({ data }: MessageEvent<FromHash>) => {
      const promise = waiting.get(data.id);
      waiting.delete(data.id);
      if ('sha256' in data) promise?.resolve(data.sha256);
      else promise?.reject(new Error(data.fault));
    });
    return made;
  };
  return {
    of(piece) {
      worker ??= start();
      last += 1;
      const promise = Promise.withResolvers<string>();
      waiting.set(last, promise);
      worker.postMessage({ id: last, piece } satisfies ToHash);
      return promise.promise;
    },
  };
}

import { Worker } from 'node:worker_threads';

/** Concurrent threads in a process; further calls wait. */
const MOST_THREADS = 2;
const MOST_WAITING = 50;
const MEMORY_MB = 512;

/** A function of a module, by its exported name. Arguments and result must be plain data. */
export interface Aside {
  module: URL;
  name: string;
  /** The thread is terminated after this time. */
  limitMs: number;
}

/** There is no result: too many calls wait, or the work took too long or too much memory. */
export class AsideFailed extends Error {}

let running = 0;
const waiting: (() => void)[] = [];

async function turn(): Promise<void> {
  if (running < MOST_THREADS) {
    running += 1;
    return;
  }
  if (waiting.length >= MOST_WAITING) throw new AsideFailed('too much waits for a thread');
  await new Promise<void>((done) => waiting.push(done)); // the slot is handed over
}

function endTurn(): void {
  const next = waiting.shift();
  if (next) next();
  else running -= 1;
}

/** Runs the function in its own thread, so that large foreign text does not block this one. Throws `AsideFailed`. */
export async function aside<T>({ module, name, limitMs }: Aside, ...given: unknown[]): Promise<T> {
  await turn();
  const thread = new Worker(new URL('./aside-thread.ts', import.meta.url), {
    workerData: { module: module.href, name, given },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const late = setTimeout(() => reject(new AsideFailed(`no answer within ${limitMs} ms`)), limitMs);
  thread.once('message', resolve);
  thread.once('error', (error) => reject(new AsideFailed(error.message, { cause: error })));
  thread.once('exit', () => reject(new AsideFailed('the thread ended without an answer')));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    endTurn();
    void thread.terminate();
  }
}

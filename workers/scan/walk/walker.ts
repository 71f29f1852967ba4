import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { WalkBatch, WalkOrder } from './types.ts';

/** The root could not be listed, or stopped answering. */
export class WalkFailed extends Error {}

type Said = { batch: WalkBatch } | { failed: string };

const KEPT_MS = 60_000;

/** Threads that have nothing to do wait a minute for the next walk: starting one costs as much as listing 20,000 files. */
const idle: { worker: Worker; leave: () => void; timer: NodeJS.Timeout }[] = [];
/** Two stat calls at once are as many as two processors, or the disks of a household, do better than one. */
const MOST = Math.min(2, availableParallelism());
/** Directories from which on a second thread is worth it. */
const MANY = 200;

function take(): Worker {
  const kept = idle.pop();
  if (!kept) return new Worker(new URL('./thread.ts', import.meta.url));
  clearTimeout(kept.timer);
  kept.worker.off('error', kept.leave).off('exit', kept.leave).ref();
  return kept.worker;
}

function keep(worker: Worker): void {
  if (idle.length >= MOST) {
    void worker.terminate();
    return;
  }
  worker.unref();
  const leave = (): void => {
    const at = idle.findIndex((one) => one.worker === worker);
    if (at >= 0) idle.splice(at, 1);
    void worker.terminate();
  };
  worker.once('error', leave).once('exit', leave);
  idle.push({ worker, leave, timer: setTimeout(leave, KEPT_MS).unref() });
}

/** A thread that lists (readdir and stat are synchronous there: a third of the CPU), one batch at a time. */
class Lister {
  readonly #worker = take();
  readonly #signal: AbortSignal;
  #asked = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async ask(message: { begin: WalkOrder } | 'next'): Promise<WalkBatch> {
    const answer = once(this.#worker, 'message', { signal: this.#signal }) as Promise<[Said]>;
    this.#asked = true;
    this.#worker.postMessage(message);
    const [said] = await answer;
    this.#asked = false;
    if ('failed' in said) throw new WalkFailed(said.failed);
    return said.batch;
  }

  /** A thread that hangs in the kernel ends when its call returns; nobody waits for it. */
  leave(): void {
    if (this.#asked) void this.#worker.terminate();
    else keep(this.#worker);
  }
}

interface Answer {
  lister: Lister;
  batch: WalkBatch;
}

/** Lists a folder in threads of its own; the first batch begins with the folder itself. */
export async function* walkFolder(order: WalkOrder, signal: AbortSignal): AsyncGenerator<WalkBatch> {
  signal.throwIfAborted();
  const of = (order.known?.size ?? 0) < MANY ? 1 : MOST;
  const listers = Array.from({ length: of }, () => new Lister(signal));
  const coming = new Map<Lister, Promise<Answer>>();
  const ask = (lister: Lister, message: { begin: WalkOrder } | 'next'): Promise<Answer> => {
    const answer = lister.ask(message).then((batch) => ({ lister, batch }));
    answer.catch(() => undefined); // it may fail when nobody waits for it any more
    coming.set(lister, answer);
    return answer;
  };
  try {
    const [first] = listers.map((lister, index) => ask(lister, { begin: { ...order, share: { of, index } } }));
    for (let next = first; next; next = coming.size > 0 ? Promise.race(coming.values()) : undefined) {
      const { lister, batch } = await next;
      coming.delete(lister);
      yield { ...batch, done: batch.done && coming.size === 0 };
      signal.throwIfAborted();
      if (!batch.done) void ask(lister, 'next');
    }
  } finally {
    for (const lister of listers) lister.leave();
  }
}

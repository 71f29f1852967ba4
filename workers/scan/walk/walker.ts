import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StorageFault } from '#areas/storage/public.ts';
import { isRemote } from '../remote-roots.ts';
import { RemoteWalk } from './remote-walk.ts';
import type { WalkBatch, WalkOrder } from './types.ts';

/** The root could not be listed, or stopped responding. */
export class WalkFailed extends Error {}

type Said = { batch: WalkBatch } | { failed: string };

const KEPT_MS = 60_000;
/** A folder of a slow disk or a network with very many files is listed in one call. */
const STILL_MS = 60_000;
const LOOK_MS = 5000;

/** An idle thread waits a minute for the next walk: starting one costs as much as listing 20,000 files. */
let idle: { worker: Worker; leave: () => void; timer: NodeJS.Timeout } | undefined;

function take(): Worker {
  const kept = idle;
  idle = undefined;
  if (!kept) return new Worker(new URL('./thread.ts', import.meta.url));
  clearTimeout(kept.timer);
  kept.worker.off('error', kept.leave).off('exit', kept.leave).ref();
  return kept.worker;
}

function keep(worker: Worker): void {
  if (idle) {
    void worker.terminate();
    return;
  }
  worker.unref();
  const leave = (): void => {
    if (idle?.worker === worker) idle = undefined;
    void worker.terminate();
  };
  worker.once('error', leave).once('exit', leave);
  idle = { worker, leave, timer: setTimeout(leave, KEPT_MS).unref() };
}

/**
 * Lists a folder in a thread of its own (readdir and stat are synchronous there, a third of the CPU), one batch at a
 * time.
 */
export async function* walkFolder(order: WalkOrder, signal: AbortSignal): AsyncGenerator<WalkBatch> {
  signal.throwIfAborted();
  if (isRemote(order.root)) {
    yield* walkRemote(order, signal);
    return;
  }
  const worker = take();
  const moved = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let answered = true;
  const request = async (message: { begin: WalkOrder } | 'next'): Promise<WalkBatch> => {
    const still = untilStill(moved);
    const answer = once(worker, 'message', { signal: AbortSignal.any([signal, still.signal]) }) as Promise<[Said]>;
    answered = false;
    worker.postMessage(message);
    const [reply] = await answer.catch((error: unknown) => {
      still.stop();
      throw signal.aborted || !still.signal.aborted ? error : new WalkFailed('the file system does not answer');
    });
    still.stop();
    answered = true;
    if ('failed' in reply) throw new WalkFailed(reply.failed);
    return reply.batch;
  };
  try {
    for (let batch = await request({ begin: { ...order, moved } }); ; batch = await request('next')) {
      yield batch;
      if (batch.done) break;
      signal.throwIfAborted();
    }
  } finally {
    // A thread that hangs in the kernel ends when its call returns; it is not awaited.
    if (answered) keep(worker);
    else void worker.terminate();
  }
}

/** Aborts when the thread has read nothing for a minute. */
function untilStill(moved: Int32Array): { signal: AbortSignal; stop: () => void } {
  const still = new AbortController();
  let before = Atomics.load(moved, 0);
  let since = performance.now();
  const timer = setInterval(() => {
    const now = Atomics.load(moved, 0);
    if (now !== before) [before, since] = [now, performance.now()];
    else if (performance.now() - since > STILL_MS) still.abort();
  }, LOOK_MS).unref();
  const stop = (): void => clearInterval(timer);
  still.signal.addEventListener('abort', stop);
  return { signal: still.signal, stop };
}

/** Requests to a remote storage wait for the network, so they need no thread. */
async function* walkRemote(order: WalkOrder, signal: AbortSignal): AsyncGenerator<WalkBatch> {
  const walk = new RemoteWalk(order, signal);
  try {
    for (let batch = await walk.next(); ; batch = await walk.next()) {
      yield batch;
      if (batch.done) return;
    }
  } catch (error) {
    throw error instanceof StorageFault ? new WalkFailed(error.reason, { cause: error }) : error;
  }
}

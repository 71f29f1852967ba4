import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { withLocal } from '#platform/media-bytes.ts';
import { ProbeError } from '../fault.ts';
import type { Answer, Content, ContentKind, Request } from './thread.ts';

const THREADS = Math.min(4, availableParallelism());
const LIMIT_MS = 20_000;
const MEMORY_MB = 256;
const KEPT_MS = 30_000;

const idle: { worker: Worker; timer: NodeJS.Timeout }[] = [];
const waiting: (() => void)[] = [];
let busy = 0;

/**
 * Reads a file in a thread, as its kind says. Throws ProbeError: `corrupt` or `unsafe-archive` for a file that the reader cannot read,
 * `probe-timeout` after 20 seconds or without memory.
 */
export async function readContent<K extends ContentKind>(
  kind: K,
  path: string,
  signal?: AbortSignal,
): Promise<Content<K>> {
  const answers = await inThread((worker) =>
    withLocal(path, (local) => request(worker, { kind, paths: [local] }, signal)),
  );
  const [answer] = answers as [Answer];
  if ('failed' in answer) throw new ProbeError(answer.fault, answer.failed);
  return answer.content as Content<K>;
}

interface Together<K> {
  kind: K;
  /** Files on a disk. */
  paths: readonly string[];
  /** The real paths that they must be in. */
  within: readonly string[];
}

/**
 * Reads several small files by one message, because a message costs as much as the tags of a file. Undefined for those that could not be
 * read: `readContent` then finds the fault of each. Fewer results than paths, in their order, when the files took too long together.
 */
export async function readTogether<K extends ContentKind>(
  { kind, paths, within }: Together<K>,
  signal?: AbortSignal,
): Promise<(Content<K> | undefined)[]> {
  try {
    const answers = await inThread((worker) => request(worker, { kind, paths, within }, signal));
    return answers.map((answer) => ('content' in answer ? (answer.content as Content<K>) : undefined));
  } catch (error) {
    if (error instanceof ProbeError) return [];
    throw error;
  }
}

async function inThread<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
  while (busy >= THREADS) await new Promise<void>((resolve) => waiting.push(resolve));
  busy += 1;
  const worker = taken();
  try {
    const done = await work(worker);
    keep(worker);
    return done;
  } catch (error) {
    void worker.terminate();
    throw error;
  } finally {
    busy -= 1;
    waiting.shift()?.();
  }
}

/** One question to a thread. Its listeners are the cheapest ones, because a music library has 100,000 questions. */
function request(worker: Worker, wanted: Request, signal: AbortSignal | undefined): Promise<Answer[]> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      clearTimeout(late);
      worker.off('message', answered).off('error', failed).off('exit', left);
      signal?.removeEventListener('abort', aborted);
      end();
    };
    const timedOut = (why: string) => (): void => settle(() => reject(new ProbeError('probe-timeout', why)));
    const answered = (answers: Answer[]): void => settle(() => resolve(answers));
    // It ran out of memory, or the library threw outside its promise.
    const failed = (error: Error): void => timedOut(error.message)();
    const left = timedOut('its reader ended');
    const aborted = (): void => settle(() => reject(signal?.reason));
    const late = setTimeout(timedOut('reading it took too long'), LIMIT_MS);
    worker.once('message', answered).once('error', failed).once('exit', left);
    signal?.addEventListener('abort', aborted);
    worker.postMessage(wanted);
  });
}

function taken(): Worker {
  const kept = idle.pop();
  if (!kept)
    return new Worker(new URL('./thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
  clearTimeout(kept.timer);
  kept.worker.removeAllListeners('error').ref();
  return kept.worker;
}

function keep(worker: Worker): void {
  worker.unref();
  const drop = (): void => {
    const at = idle.findIndex((one) => one.worker === worker);
    if (at >= 0) idle.splice(at, 1);
    void worker.terminate();
  };
  worker.once('error', drop);
  idle.push({ worker, timer: setTimeout(drop, KEPT_MS).unref() });
}

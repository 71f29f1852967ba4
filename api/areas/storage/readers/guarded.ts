import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_READERS } from '../kinds/kinds.ts';
import { type Options, type Placing, StorageFault, type StorageReader } from './reader.ts';

const TRIES = 4;
const FIRST_PAUSE_MS = 100;
const METADATA_MS = 5000;
const LIST_MS = 10_000;
const READ_MS = 30_000;
/** A file that is being placed may take hours, but not so long without a byte. */
const STILL_MS = 120_000;
/** Calls that wait for a reader; more are refused. */
const MOST_WAITING = 500;

/** Faults that a moment may mend. */
const PASSING = new Set(['timeout', 'host-unreachable', 'slow']);

/**
 * A remote reader with a deadline for each call, at most 8 calls at once, and three more tries with pauses for faults
 * that may pass. Writes are not repeated.
 */
export function guarded(reader: StorageReader): StorageReader {
  const turn = turnstile();
  const call = <T>(limitMs: number, options: Options | undefined, work: (inside: Options) => Promise<T>): Promise<T> =>
    turn(() => inTime(limitMs, options, (inside) => repeated(inside, () => work(inside))));
  const once = <T>(limitMs: number, options: Options | undefined, work: (inside: Options) => Promise<T>): Promise<T> =>
    turn(() => inTime(limitMs, options, work));
  const place = reader.place?.bind(reader);
  const dropParts = reader.dropParts?.bind(reader);
  return {
    ...(place && {
      place: (path, file, options) => turn(() => whileMoving(STILL_MS, options, (inside) => place(path, file, inside))),
    }),
    ...(dropParts && {
      dropParts: (path, id, options) => call(METADATA_MS, options, (inside) => dropParts(path, id, inside)),
    }),
    list: (path, options) => call(LIST_MS, options, (inside) => reader.list(path, { ...options, ...inside })),
    stat: (path, options) => call(METADATA_MS, options, (inside) => reader.stat(path, inside)),
    read: (path, range, options) => call(READ_MS, options, (inside) => reader.read(path, range, inside)),
    write: (path, content, options) =>
      once(READ_MS, options, (inside) => reader.write(path, content, { ...options, ...inside })),
    remove: (path, options) => once(METADATA_MS, options, (inside) => reader.remove(path, inside)),
    space: (options) => call(METADATA_MS, options, (inside) => reader.space(inside)),
    close: () => reader.close(),
  };
}

type Turn = <T>(work: () => Promise<T>) => Promise<T>;

function turnstile(): Turn {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= MAX_READERS) {
      if (waiting.length >= MOST_WAITING) throw new StorageFault('slow', 'too many reads wait for the storage');
      await new Promise<void>((go) => waiting.push(go)); // the slot is handed over
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

function inTime<T>(limitMs: number, options: Options | undefined, work: (inside: Options) => Promise<T>): Promise<T> {
  return whileMoving(limitMs, options, ({ signal }) => work({ signal }));
}

/** The deadline begins again whenever the work says that it moved. */
async function whileMoving<T>(
  limitMs: number,
  options: Options | undefined,
  work: (inside: Placing) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const signal = options?.signal ? AbortSignal.any([end.signal, options.signal]) : end.signal;
  const { promise, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => {
    reject(new StorageFault('timeout', 'the storage does not answer in time'));
    end.abort();
  }, limitMs);
  const leave = (): void =>
    reject(options?.signal?.reason instanceof Error ? options.signal.reason : new Error('aborted'));
  options?.signal?.addEventListener('abort', leave, { once: true });
  try {
    options?.signal?.throwIfAborted();
    return await Promise.race([work({ signal, moved: () => void late.refresh() }), promise]);
  } finally {
    clearTimeout(late);
    options?.signal?.removeEventListener('abort', leave);
  }
}

async function repeated<T>({ signal }: Options, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const passes = error instanceof StorageFault && PASSING.has(error.reason) && error.stage !== 'resolve';
      if (!passes || tries === TRIES || signal?.aborted) throw error;
      await sleep(FIRST_PAUSE_MS * 4 ** (tries - 1) * (0.5 + Math.random()), undefined, { signal });
    }
  }
}

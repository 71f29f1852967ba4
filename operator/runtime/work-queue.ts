// Keys that wait for a pass: each at most once, and never two concurrent passes for one key.

const FIRST_MS = 1000;
const MOST_MS = 300_000;

export interface QueueListener {
  added(): void;
  depth(waiting: number): void;
  /** Time that a key waited for a worker. */
  waited(ms: number): void;
}

const SILENT: QueueListener = { added: () => undefined, depth: () => undefined, waited: () => undefined };

export interface Backoff {
  firstMs: number;
  mostMs: number;
}

export class WorkQueue {
  readonly #backoff: Backoff;
  readonly #listener: QueueListener;
  /** In order of arrival, with the time. */
  readonly #waiting = new Map<string, number>();
  readonly #working = new Set<string>();
  /** Added again during a pass. */
  readonly #again = new Set<string>();
  readonly #later = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  readonly #faults = new Map<string, { count: number; until: number }>();
  #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(listener = SILENT, backoff: Backoff = { firstMs: FIRST_MS, mostMs: MOST_MS }) {
    this.#listener = listener;
    this.#backoff = backoff;
  }

  add(key: string): void {
    if (this.#closed || this.#waiting.has(key)) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#listener.added();
    this.#waiting.set(key, performance.now());
    this.#serve();
  }

  /** The earliest time wins. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    const at = performance.now() + ms;
    const before = this.#later.get(key);
    if (before && before.at <= at) return;
    clearTimeout(before?.timer);
    const timer = setTimeout(() => {
      this.#later.delete(key);
      this.add(key);
    }, ms);
    this.#later.set(key, { at, timer });
  }

  /**
   * Requeues after 1 s, then 2, 4 ... 300 s, with 25 % jitter; a change triggers a pass at once. If such a pass within the
   * pause fails too, the pause does not grow: several changes during one fault count once. Returns the pause.
   */
  retry(key: string, { atLeastMs = 0, atMostMs = this.#backoff.mostMs } = {}): number {
    const { count, until } = this.#faults.get(key) ?? { count: 0, until: 0 };
    const left = until - performance.now();
    const longer = Math.min(this.#backoff.firstMs * 2 ** count, atMostMs) * (0.75 + Math.random() / 2);
    const pause = Math.max(atLeastMs, left > 0 ? left : longer);
    const next = performance.now() + pause;
    this.#faults.set(key, left > 0 ? { count, until: Math.max(until, next) } : { count: count + 1, until: next });
    this.addAfter(key, pause);
    return pause;
  }

  /** The pass succeeded, or will not be retried. */
  forget(key: string): void {
    this.#faults.delete(key);
  }

  /** Undefined when the queue is closed. Every key taken must be returned by `done`. */
  async take(): Promise<string | undefined> {
    if (this.#closed) return undefined;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#takers.push(resolve);
    this.#serve();
    return promise;
  }

  done(key: string): void {
    this.#working.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  close(): void {
    this.#closed = true;
    for (const { timer } of this.#later.values()) clearTimeout(timer);
    this.#later.clear();
    this.#waiting.clear();
    for (const taker of this.#takers) taker(undefined);
    this.#takers = [];
  }

  #serve(): void {
    this.#listener.depth(this.#waiting.size);
    const [next] = this.#waiting;
    const taker = next && this.#takers.shift();
    if (!next || !taker) return;
    const [key, since] = next;
    this.#waiting.delete(key);
    this.#working.add(key);
    // This pass also serves a scheduled requeue, except one that it schedules itself.
    clearTimeout(this.#later.get(key)?.timer);
    this.#later.delete(key);
    this.#listener.waited(performance.now() - since);
    this.#listener.depth(this.#waiting.size);
    taker(key);
  }
}

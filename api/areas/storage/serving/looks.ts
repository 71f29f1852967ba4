const LIMIT_MS = 5000;

/** The result of a file system call, or `slow` after 5 seconds. */
export function inTime<T>(work: Promise<T>, limitMs = LIMIT_MS): Promise<T | 'slow'> {
  return Promise.race([
    work,
    new Promise<'slow'>((resolve) => {
      setTimeout(() => resolve('slow'), limitMs).unref();
    }),
  ]);
}

/** Pending calls for one place: each that hangs holds a thread until the file system answers. */
const MOST_PENDING = 4;

interface Pending {
  calls: Set<Promise<unknown>>;
  /** Those of them that have exceeded the limit. */
  late: number;
}

/**
 * Limits calls to file systems that may hang. A few calls for a place run at once, and the others wait for them; while one
 * exceeds the limit, all others return `slow` without a call of their own.
 */
export class Looks {
  readonly #limitMs: number | undefined;
  readonly #places = new Map<string, Pending>();

  constructor(limitMs?: number) {
    this.#limitMs = limitMs;
  }

  /** `look` must not reject. */
  async run<T>(place: string, look: () => Promise<T>): Promise<T | 'slow'> {
    for (;;) {
      const pending = this.#places.get(place) ?? { calls: new Set(), late: 0 };
      if (pending.late > 0) return 'slow';
      if (pending.calls.size < MOST_PENDING) {
        this.#places.set(place, pending);
        return this.#call(place, pending, (async () => look())());
      }
      if ((await inTime(Promise.race(pending.calls), this.#limitMs)) === 'slow') return 'slow';
    }
  }

  async #call<T>(place: string, pending: Pending, call: Promise<T>): Promise<T | 'slow'> {
    let isLate = false;
    pending.calls.add(call);
    void call.then(() => {
      pending.calls.delete(call);
      if (isLate) pending.late -= 1;
      if (pending.calls.size === 0) this.#places.delete(place);
    });
    const found = await inTime(call, this.#limitMs);
    if (found === 'slow' && pending.calls.has(call)) {
      isLate = true;
      pending.late += 1;
    }
    return found;
  }
}

/** Of all requests and jobs of a process, by library folder or media root. */
export const looks = new Looks();

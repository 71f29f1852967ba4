// The items of a long list by index, loaded where they are visible. A block is one page behind a mark of
// getLibraryIndex; places without a mark are reached from the nearest known cursor below them.

const PAGE = 200;
const AT_ONCE = 3;
const KEPT = 40;
const PAUSE_MS = 3000;

export interface Part<T> {
  items: readonly T[];
  cursor: string | null;
}

export interface Wanted {
  cursor?: string;
  limit: number;
  signal: AbortSignal;
}

export interface Index {
  total: number;
  /** Items between two marks. */
  every?: number;
  marks?: readonly string[];
  buckets?: readonly { offset: number; cursor: string | null }[];
}

export interface Source<T> {
  load(wanted: Wanted): Promise<Part<T>>;
  /** Items from `from` up to `to` have arrived or changed. */
  changed(from: number, to: number): void;
  failed?(error: unknown): void;
}

interface Block {
  start: number;
  size: number;
}

/** Items between two marks that are used, and items of a block. */
function stepsOf(total: number, every?: number): { every: number; page: number } {
  if (!every) return { every: Math.max(total, 1), page: PAGE };
  const joined = every * Math.max(1, Math.floor(PAGE / every)); // marks of a short list are nearer than a page
  return { every: joined, page: Math.ceil(joined / Math.ceil(joined / PAGE)) };
}

export class Blocks<T extends { id: string }> {
  readonly total: number;
  readonly #source: Source<T>;
  readonly #every: number;
  readonly #page: number;
  /** Cursors by the index that they lead to; undefined is the start of the list. */
  readonly #cursors = new Map<number, string | undefined>([[0, undefined]]);
  readonly #blocks = new Map<number, readonly T[]>();
  readonly #running = new Map<number, AbortController>();
  readonly #failedAt = new Map<number, number>();
  #wanted: Block[] = [];

  constructor(source: Source<T>, { total, every, marks = [], buckets = [] }: Index) {
    this.#source = source;
    this.total = total;
    const steps = stepsOf(total, every);
    this.#every = steps.every;
    this.#page = steps.page;
    for (const { offset, cursor } of buckets) if (cursor && offset > 0) this.#cursors.set(offset, cursor);
    for (const [at, cursor] of marks.entries()) if (at > 0 && every) this.#cursors.set(at * every, cursor);
  }

  #blockAt(index: number): Block {
    const step = Math.floor(index / this.#every) * this.#every;
    if (this.total - step <= PAGE) return { start: step, size: this.total - step };
    const start = step + Math.floor((index - step) / this.#page) * this.#page;
    return { start, size: Math.min(this.#page, step + this.#every - start, this.total - start) };
  }

  get(index: number): T | undefined {
    const { start } = this.#blockAt(index);
    return this.#blocks.get(start)?.[index - start];
  }

  /** Items that are in memory, with their index. */
  *known(): Generator<[number, T]> {
    for (const [start, items] of this.#blocks) for (const [at, item] of items.entries()) yield [start + at, item];
  }

  /** Replaces items in memory, such as after a change of the person's own marks. */
  patch(change: (item: T) => T): void {
    for (const [start, items] of this.#blocks) {
      const next = items.map(change);
      if (next.every((item, at) => item === items[at])) continue;
      this.#blocks.set(start, next);
      this.#source.changed(start, start + next.length);
    }
  }

  /** Loads the missing items from `from` up to `to`, and aborts requests for other places. */
  want(from: number, to: number): void {
    this.#wanted = [];
    for (let at = Math.max(0, from); at < Math.min(to, this.total); ) {
      const block = this.#blockAt(at);
      this.#wanted.push(block);
      at = block.start + block.size;
    }
    const starts = new Set(this.#wanted.map(({ start }) => start));
    for (const [start, request] of this.#running) if (!starts.has(start)) request.abort();
    this.#fill();
  }

  /** All items from `from` up to `to`, loaded where they are not in memory. */
  async read(from: number, to: number, signal: AbortSignal): Promise<T[]> {
    const found: T[] = [];
    for (let at = Math.max(0, from); at < Math.min(to, this.total); ) {
      const block = this.#blockAt(at);
      if (!this.#blocks.has(block.start)) await this.#reach(block, signal);
      found.push(...(this.#blocks.get(block.start)?.slice(at - block.start, to - block.start) ?? []));
      at = block.start + block.size;
    }
    return found;
  }

  /** Aborts every request. */
  stop(): void {
    this.want(0, 0);
  }

  #fill(): void {
    for (const block of this.#wanted) {
      const { start } = block;
      const known = this.#blocks.get(start);
      if (known) {
        this.#blocks.delete(start); // the latest wanted are dropped last
        this.#blocks.set(start, known);
        continue;
      }
      const direct = this.#cursors.has(start);
      const room = direct ? AT_ONCE : 1;
      const paused = performance.now() - (this.#failedAt.get(start) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS;
      if (!this.#running.has(start) && this.#running.size < room && !paused) void this.#run(block);
    }
  }

  async #run(block: Block): Promise<void> {
    const request = new AbortController();
    this.#running.set(block.start, request);
    try {
      await this.#reach(block, request.signal);
    } catch (error) {
      if (!request.signal.aborted) {
        this.#failedAt.set(block.start, performance.now());
        this.#source.failed?.(error);
      }
    } finally {
      this.#running.delete(block.start);
    }
    this.#fill();
  }

  /** Walks from the nearest cursor to the block; each page on the way gives a cursor, and most fill a block. */
  async #reach({ start }: Block, signal: AbortSignal): Promise<void> {
    let at = Math.max(...[...this.#cursors.keys()].filter((known) => known <= start));
    while (at <= start) {
      const block = this.#blockAt(at);
      const limit = block.start + block.size - at;
      const cursor = this.#cursors.get(at);
      const { items, cursor: next } = await this.#source.load({ limit, signal, ...(cursor && { cursor }) });
      signal.throwIfAborted();
      if (at === block.start) this.#keep(at, items.slice(0, block.size));
      at += limit;
      if (next === null) return;
      if (!this.#cursors.has(at)) this.#cursors.set(at, next);
    }
  }

  #keep(start: number, items: readonly T[]): void {
    this.#blocks.set(start, items);
    const visible = new Set(this.#wanted.map((block) => block.start));
    for (const old of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT) break;
      if (old !== start && !visible.has(old)) this.#blocks.delete(old);
    }
    this.#source.changed(start, start + items.length);
  }
}

const MOST_MARKS = 2000;
/** Wider steps that are tried for an end of about one page. */
const WIDER = 60;

const everyOf = (total: number, marks: number): number => Math.ceil(total / marks);

/**
 * The number of marks to request for a list, so that a block is about one page. Where a list has too few marks for that, the
 * last of them is about one page before its end: the key End reaches the last items by one request.
 */
export function marksFor(total: number): number {
  if (total <= MOST_MARKS * PAGE) return Math.ceil(total / PAGE);
  const least = everyOf(total, MOST_MARKS);
  const steps = Array.from({ length: WIDER }, (_, more) => least + more).map((every) => {
    const marks = Math.ceil(total / every);
    return { marks, end: everyOf(total, marks) === every ? ((total - 1) % every) + 1 : Number.POSITIVE_INFINITY };
  });
  const near = steps.filter(({ end }) => end <= PAGE).sort((one, other) => other.end - one.end);
  return near[0]?.marks ?? MOST_MARKS;
}

/** The size of the first block of a list whose index has so many marks. */
export function firstBlock(total: number, marks: number): number {
  if (total <= PAGE) return total;
  const { every, page } = stepsOf(total, marks === 0 ? undefined : everyOf(total, marks));
  return Math.min(page, every);
}

import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';
import { rowsOf } from '#platform/rows.ts';

/** A difference below is the way of the query. */
const EXACT_MS = 250;
/** An answer that took longer says too little about the time. */
const SLOW_MS = 1000;
/** A clock of this machine that is further off is reported. */
const FAR_MS = 30_000;

/**
 * The time of the database, by which recordings begin and end: broadcasts are dated by it. Between two looks it goes on by the ticks of
 * this machine, which no change of its clock moves.
 */
export class DatabaseClock {
  readonly #db: Db;
  readonly #log: Log;
  #base = Date.now() - performance.now();
  #isFar = false;

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Unix ms. */
  readonly now = (): number => Math.round(performance.now() + this.#base);

  /** Reads the time again. */
  async look(): Promise<void> {
    const before = performance.now();
    const [row] = await rowsOf<{ ms: number }>(
      this.#db,
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
      [],
    );
    const after = performance.now();
    if (!row || after - before > SLOW_MS) return;
    const base = row.ms - (before + after) / 2;
    if (Math.abs(base - this.#base) > EXACT_MS) this.#base = base;
    this.#warn(this.now() - Date.now());
  }

  #warn(offMs: number): void {
    const isFar = Math.abs(offMs) > FAR_MS;
    if (isFar && !this.#isFar) this.#log.warn({ offMs: Math.round(offMs) }, 'the clock of this machine is wrong');
    this.#isFar = isFar;
  }
}

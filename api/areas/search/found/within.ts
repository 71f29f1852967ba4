import { stoppedInTime } from '#kernel/bounded.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';

/** The longest that a part of an answer may take. */
export const MOST_MS = 2000;

/** The result of reads that may take so many milliseconds together; undefined when they were stopped. */
export async function within<T>(db: Db, ms: number, read: (db: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await db.transaction(async (transaction) => {
      await transaction.raw(limits(ms));
      return read(transaction);
    });
  } catch (error) {
    if (stoppedInTime(error) || isTooBroad(error)) return undefined;
    throw error;
  }
}

/**
 * Settings of a transaction of search. Postgres cannot know how few rows many words have together, and would read whole
 * tables; every statement here has an index. Compiling a plan takes longer than running it.
 */
export const limits = (ms: number): string =>
  `set local statement_timeout = ${Math.max(1, Math.round(ms))}; set local enable_seqscan = off; set local jit = off`;

/** A page that was stopped in time is reported as a filter that is too broad. */
function isTooBroad(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { issues } = error.details as { issues?: { code: string }[] };
  return issues?.some(({ code }) => code === 'query_too_broad') ?? false;
}

import type { Knex } from 'knex';
import { invalid } from './errors.ts';

/** Time limit in milliseconds of a query whose shape a caller chose. */
export const BROAD_MS = 5000;

/** Runs a query whose shape a caller chose; after five seconds it is stopped with 400 `query_too_broad`. */
export async function bounded<T>(query: Knex.QueryBuilder): Promise<T> {
  return unlessTooBroad(query.timeout(BROAD_MS, { cancel: true }) as unknown as Promise<T>);
}

/** Result of a query that is stopped after `BROAD_MS`; the stop becomes 400 `query_too_broad`. */
export async function unlessTooBroad<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (stoppedInTime(error)) {
      throw invalid(['query', 'filter'], 'query_too_broad', 'this takes too long; narrow it');
    }
    throw error;
  }
}

/** Whether a query exceeded its time limit; false when it got no free connection. */
export function stoppedInTime(error: unknown): boolean {
  if ((error as { code?: string }).code === '57014') return true;
  return error instanceof Error && error.message.startsWith('Defined query timeout');
}

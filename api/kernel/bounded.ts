import type { Knex } from 'knex';
import { invalid } from './errors.ts';

/** Milliseconds that a query of a caller's own shape may run. */
export const BROAD_MS = 5000;

/** Runs a query whose shape a caller chose; stopped after five seconds it is 400 `query_too_broad`. */
export async function bounded<T>(query: Knex.QueryBuilder): Promise<T> {
  return toldBroad(query.timeout(BROAD_MS, { cancel: true }) as unknown as Promise<T>);
}

/** What a query that is stopped after `BROAD_MS` answers, or that 400. */
export async function toldBroad<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (stoppedInTime(error)) {
      throw invalid(['query', 'filter'], 'query_too_broad', 'this takes too long; narrow it');
    }
    throw error;
  }
}

/** True for a query that ran out of its time, not for one that found no free connection. */
export function stoppedInTime(error: unknown): boolean {
  if ((error as { code?: string }).code === '57014') return true;
  return error instanceof Error && error.message.startsWith('Defined query timeout');
}

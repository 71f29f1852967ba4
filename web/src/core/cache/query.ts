// Rules of the cache: how an operation becomes a query, how long its data is fresh, and which requests are sent again.
import { QueryCache, QueryClient } from '@tanstack/query-core';
import type { RequestOf, ResponseOf } from '../../../../api/client/index.ts';
import { api } from '../api/client.ts';
import { isPassing, problemOf } from '../api/errors.ts';
import { type Key, keyOf, type Name, type Parts } from '../api/keys.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
/** Descriptions that change with a version or a setting alone. */
const SCHEMAS = new Set<Name>(['listLibraryFields', 'getServerInfo', 'getBranding', 'listThemes']);
const WAITS = [1, 2, 5, 15];

/** Milliseconds for which an answer is not requested again. */
export function freshFor(name: Name): number {
  if (SCHEMAS.has(name)) return HOUR;
  return name.startsWith('list') ? 30 * SECOND : 60 * SECOND;
}

/** Refusals that mean that the account itself changed; the page that reads Me reacts to it. */
function changesMe(error: unknown): boolean {
  const { code, reason = '' } = problemOf(error);
  return code === 'PERMISSION_TIME_RESTRICTED' || ['password-change', 'two-factor-setup'].includes(reason);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (queryKey[0] !== 'getMe' && changesMe(error)) void invalidate('getMe');
    },
  }),
  defaultOptions: {
    queries: {
      retry: (count, error) => count < WAITS.length && isPassing(problemOf(error)),
      retryDelay: (count) => (WAITS[count] ?? 15) * SECOND,
      networkMode: 'always', // a server at home answers while the browser says that it is offline
      refetchOnWindowFocus: true,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

export interface Query<T> {
  queryKey: Key;
  queryFn(context: { signal: AbortSignal }): Promise<T>;
  staleTime: number;
}

/** The query of an operation, for createQuery and prefetchQuery. */
export function query<N extends Name>(name: N, ...[request]: Parameters<(typeof api)[N]>): Query<ResponseOf<N>> {
  const parts = (request ?? {}) as RequestOf<N>;
  const call = api[name] as (request: RequestOf<N>) => Promise<ResponseOf<N>>;
  return {
    queryKey: keyOf(name, parts as Parts),
    queryFn: ({ signal }) => call({ ...parts, signal }),
    staleTime: freshFor(name),
  };
}

/** Marks every answer of an operation as old; those on screen are requested again. */
export const invalidate = (name: Name): Promise<void> => queryClient.invalidateQueries({ queryKey: [name] });

/** The longest that the first page waits for answers which the shell requested before the script was there. */
const FIRST_MS = 800;

/** Reads what the first page begins with, so that it is drawn once. A page that waits longer begins with placeholders. */
export async function beginWith(...queries: readonly Query<unknown>[]): Promise<void> {
  const read = Promise.all(queries.map((one) => queryClient.prefetchQuery(one)));
  await Promise.race([read, new Promise((resolve) => setTimeout(resolve, FIRST_MS))]);
}

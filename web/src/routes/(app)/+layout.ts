import { beginWithKept } from '#core/cache/kept.ts';
import { query, queryClient } from '#core/cache/query.ts';

/** The shell sets it where somebody was signed in before: their libraries need not wait for who they are. */
const isKnown = (): boolean => document.documentElement.dataset['start'] === 'app';

export function load(): void {
  beginWithKept('getBranding');
  void queryClient.prefetchQuery(query('getMe'));
  void queryClient.prefetchQuery(query('getBranding'));
  if (isKnown()) void queryClient.prefetchQuery(query('listLibraries'));
}

import { beginWithKept } from '#core/cache/kept.ts';
import { beginWith, query, queryClient } from '#core/cache/query.ts';

/** The shell sets it where somebody was signed in before: their libraries need not wait for who they are. */
const isKnown = (): boolean => document.documentElement.dataset['start'] === 'app';

export async function load(): Promise<void> {
  beginWithKept('getBranding');
  void queryClient.prefetchQuery(query('getBranding'));
  if (isKnown()) await beginWith(query('getMe'), query('listLibraries'));
  else void queryClient.prefetchQuery(query('getMe'));
}

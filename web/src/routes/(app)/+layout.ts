import { beginWithKept } from '#core/cache/kept.ts';
import { beginWith, query, queryClient } from '#core/cache/query.ts';
import { loadRest } from '#features/session/language.ts';

/** The shell sets it where somebody was signed in before: their libraries need not wait for who they are. */
const isKnown = (): boolean => document.documentElement.dataset['start'] === 'app';

export async function load({ route }: { route: { id: string | null } }): Promise<void> {
  await Promise.all([loadRest({ route }), begin()]);
}

async function begin(): Promise<void> {
  beginWithKept('getBranding');
  void queryClient.prefetchQuery(query('getBranding'));
  if (isKnown()) await beginWith(query('getMe'), query('listLibraries'));
  else void queryClient.prefetchQuery(query('getMe'));
}

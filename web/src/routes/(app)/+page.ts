import { keyOf } from '#core/api/keys.ts';
import { beginWith, query, queryClient } from '#core/cache/query.ts';

/** Waits for the answer on the first page alone, where the shell requested it before the script was there. */
export async function load(): Promise<void> {
  const isFirst = !queryClient.getQueryData(keyOf('getMe'));
  if (isFirst && document.documentElement.dataset['start'] === 'app') await beginWith(query('getHome'));
}

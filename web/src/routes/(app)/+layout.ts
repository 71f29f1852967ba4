import { query, queryClient } from '#core/cache/query.ts';

export function load(): void {
  void queryClient.prefetchQuery(query('getMe'));
  void queryClient.prefetchQuery(query('getBranding'));
}

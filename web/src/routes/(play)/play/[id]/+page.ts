import { query, queryClient } from '#core/cache/query.ts';

export function load({ params }: { params: { id: string } }): { id: string } {
  void queryClient.prefetchQuery(query('getMe'));
  void queryClient.prefetchQuery(query('getPlaybackPreferences'));
  void queryClient.prefetchQuery(query('getItem', { params: { id: params.id } }));
  return { id: params.id };
}

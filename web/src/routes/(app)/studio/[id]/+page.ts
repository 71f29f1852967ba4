import { query, queryClient } from '#core/cache/query.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ params }) => {
  void queryClient.prefetchQuery(query('getStudio', { params }));
  return { id: params.id };
};

import { queryClient } from '#core/cache/query.ts';
import { titleQuery } from '#features/discover/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ params }) => {
  void queryClient.prefetchQuery(titleQuery(params.id));
  return { id: params.id };
};

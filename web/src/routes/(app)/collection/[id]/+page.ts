import { queryClient } from '#core/cache/query.ts';
import { collectionQuery } from '#features/collections/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ params }) => {
  void queryClient.prefetchQuery(collectionQuery(params.id));
  return { id: params.id };
};

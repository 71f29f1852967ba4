import { queryClient } from '#core/cache/query.ts';
import { itemQuery } from '#features/item/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ params }) => {
  void queryClient.prefetchQuery(itemQuery(params.id));
  return { id: params.id };
};

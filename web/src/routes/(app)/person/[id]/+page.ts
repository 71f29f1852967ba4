import { queryClient } from '#core/cache/query.ts';
import { personQuery } from '#features/people/queries.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ params }) => {
  void queryClient.prefetchQuery(personQuery(params.id));
  return { id: params.id };
};

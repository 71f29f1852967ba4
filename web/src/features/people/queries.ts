// Lists of people and of their titles, page by page.

import { api } from '#core/api/client.ts';
import { keyOf, type Parts } from '#core/api/keys.ts';
import { freshFor, query } from '#core/cache/query.ts';
import type { RequestOf, ResponseOf } from '../../../../api/client/index.ts';

export const personQuery = (id: string) => query('getPerson', { params: { id }, query: { include: 'colleagues' } });

type Paged =
  | 'listPeople'
  | 'listPersonItems'
  | 'listStudios'
  | 'listCollections'
  | 'listCollectionItems'
  | 'listHistory'
  | 'listInCinemas'
  | 'listNewOnDisc'
  | 'listToStream'
  | 'searchDiscoverTitles'
  | 'listLiveChannels'
  | 'listRecordings'
  | 'listRecordingRules';
type Page<N extends Paged> = ResponseOf<N> & { page: { cursor: string | null } };

/** The query of a list whose pages follow each other, for createInfiniteQuery. */
export function pagesOf<N extends Paged>(name: N, request: RequestOf<N>) {
  const call = api[name] as unknown as (request: object) => Promise<Page<N>>;
  const { query: given = {} } = request as { query?: object };
  return {
    queryKey: [...keyOf(name, request as Parts), 'pages'],
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string }): Promise<Page<N>> =>
      call({ ...request, query: { ...given, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ page }: Page<N>): string | undefined => page.cursor ?? undefined,
    staleTime: freshFor(name),
  };
}

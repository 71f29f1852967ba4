import { getVisibleItem, type VisibleItem, visibleItems } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, pageOf, parseSort, type SortTerm } from '#kernel/page.ts';
import type { RequestRow } from './requests.store.ts';
import { showRequests } from './requests.view.ts';
import { type GeneratedQuery, type GenerationRequest, requestSorts } from './speech.schemas.ts';

const number = (name: string, column: string): SortTerm => ({
  ...{ name, column, type: 'bigint', nullable: true, descending: false },
});
const NEWEST: SortTerm = { name: 'createdAt', ...requestSorts.createdAt, descending: true };
const EPISODES = [number('season', 'i.parent_index'), number('episode', 'i.index_number'), NEWEST];

/** A page of requests for an item, or for what the caller sees in a season or show. */
export async function listRequests(
  call: Call,
  itemId: string,
  query: GeneratedQuery,
): Promise<{ items: GenerationRequest[]; page: Page }> {
  const { db, who, deps } = call;
  const item = await getVisibleItem(db, who, itemId);
  const given = query.sort ? parseSort(query.sort, requestSorts, '') : undefined;
  const found = await pageOf<RequestRow, RequestRow>(db, selectRequests(call, item, query), {
    keys: deps.keys,
    terms: given ?? (item.container ? EPISODES : [NEWEST]),
    cursor: query.cursor,
    limit: query.limit,
    scope: JSON.stringify(['listGeneratedSubtitles', itemId, query.state, who.accountId]),
    idColumn: 'r.id',
    toItem: (row) => row,
  });
  const withItem = item.container || query.include !== undefined;
  return { items: await showRequests(call, found.items, { item: withItem }), page: found.page };
}

function selectRequests({ db, who }: Call, item: VisibleItem, { state }: GeneratedQuery) {
  const requests = visibleItems(db, who).join('subtitle_requests as r', 'r.item_id', 'i.id').select('r.*');
  if (item.container) requests.whereRaw('(i.parent_id = ? or i.grandparent_id = ?)', [item.id, item.id]);
  else requests.where('i.id', item.id);
  return state ? requests.whereRaw('r.state = any(?)', [[...state]]) : requests;
}

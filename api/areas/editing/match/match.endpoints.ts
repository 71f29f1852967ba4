import { Job } from '#areas/jobs/public.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { applyMatch, clearMatch } from './apply.ts';
import { ClearQuery, ItemMatch, Matches, MatchPut, MatchQuery, RefreshPost } from './match.schemas.ts';
import { refreshItemNow } from './refresh.ts';
import { searchMatches } from './search.ts';

const edits = { permission: 'item:edit' } as const;

export const searchItemMatches = defineEndpoint({
  operationId: 'searchItemMatches',
  method: 'get',
  path: '/items/:id/match',
  summary: 'Find an item in catalogues',
  description:
    "Queries the identifying agents of the item's library together, for 8 seconds. Candidates are ordered by score and live for an hour. Agents that do not answer are in `failed`; when none answers, or the library has none, it is 502. At most 20 a minute.",
  access: edits,
  params: IdParams,
  query: MatchQuery,
  answer: json(200, Matches),
  errors: ['PROVIDER_UNAVAILABLE', 'RATE_LIMITED'],

  async handle({ params, query }, call) {
    return searchMatches(call, params.id, query);
  },
});

export const applyItemMatch = defineEndpoint({
  operationId: 'applyItemMatch',
  method: 'put',
  path: '/items/:id/match',
  summary: 'Set the identity of an item',
  description:
    'The identity is set and locked at once; the fields follow by a job. `replace` all removes edits and locks first. A candidate that is older than an hour is 404. An identity that another item of the library has is 409 `already-matched` (details.itemId), unless the library merges versions.',
  access: edits,
  params: IdParams,
  body: MatchPut,
  answer: json(202, ItemMatch),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return applyMatch(call, params.id, body);
  },
});

export const clearItemMatch = defineEndpoint({
  operationId: 'clearItemMatch',
  method: 'delete',
  path: '/items/:id/match',
  summary: 'Remove the identity of an item',
  description:
    'The item is known by its files, tags and edits alone, and nothing identifies it until it is matched, or refreshed with `identify`. `keepFields` keeps the values of agents. A repeat changes nothing.',
  access: edits,
  params: IdParams,
  query: ClearQuery,
  answer: none(),
  emits: ['item.updated'],

  async handle({ params, query }, call) {
    await clearMatch(call, params.id, query.keepFields ?? false);
  },
});

export const refreshItem = defineEndpoint({
  operationId: 'refreshItem',
  method: 'post',
  path: '/items/:id/refresh',
  summary: 'Refresh an item from its sources',
  description:
    'Mode `missing` fills empty fields, `update` also renews values of agents that are not locked, `replace` drops edits but no locks. `probe` reads the files again, which is 423 while their storage is unavailable. The same request while one waits is 200 with that job.',
  access: edits,
  params: IdParams,
  body: RefreshPost,
  answer: json(202, Job),
  errors: ['STORAGE_UNAVAILABLE'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return refreshItemNow(call, params.id, body);
  },
});

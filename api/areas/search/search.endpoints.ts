import { includeQuery } from '#areas/items/public.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { searchEverything } from './found/search-all.ts';
import { searchItemsPage } from './found/search-items.ts';
import { searchPeoplePage } from './found/search-people.ts';
import {
  AllQuery,
  ItemsQuery,
  PeopleSearchQuery,
  partial,
  SearchGroups,
  SearchHit,
  Suggestions,
  SuggestQuery,
  TranscriptHit,
  TranscriptsQuery,
} from './search.schemas.ts';
import { suggestions } from './suggest/suggest.ts';
import { searchTranscriptsPage } from './transcripts/search-transcripts.ts';

const views = { permission: 'library:view' } as const;

/** Relations that lists of items can include. */
const relations = [
  ...(['files', 'streams', 'people', 'studios', 'genres', 'labels', 'collections', 'parents', 'custom'] as const),
  ...(['externalIds', 'userState'] as const),
] as const;

export const searchAll = defineEndpoint({
  operationId: 'searchAll',
  method: 'get',
  path: '/search',
  summary: 'Search everything',
  description:
    'Groups by item type and kind, best first, without empty ones. Quotes make a phrase, a leading minus excludes, and `year:1999`, `type:movie` or any `field:op:value` of the filter string narrows. With fewer than three hits, alike titles are added, and `corrected` is the likeliest spelling. What takes longer than its limit is left out, and `partial` is true.',
  access: views,
  query: AllQuery,
  answer: json(200, SearchGroups),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    return searchEverything(call, query);
  },
});

export const searchItems = defineEndpoint({
  operationId: 'searchItems',
  method: 'get',
  path: '/search/items',
  summary: 'Search items',
  description:
    '`externalId` finds an item by its identity, in place of `q`; both together, or neither, are 400. `exact` switches off beginnings of words and likeness. The total is an estimate where very many items fit.',
  access: views,
  query: ItemsQuery.extend({ include: includeQuery(relations) }),
  answer: page(SearchHit, { partial }),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    return searchItemsPage(call, query);
  },
});

export const searchPeople = defineEndpoint({
  operationId: 'searchPeople',
  method: 'get',
  path: '/search/people',
  summary: 'Search people',
  description:
    'Names and aliases of people whom visible items credit. The name of a character finds its actor, with the character in `subtitle`.',
  access: views,
  query: PeopleSearchQuery,
  answer: page(SearchHit, { partial }),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    return searchPeoplePage(call, query);
  },
});

export const searchTranscripts = defineEndpoint({
  operationId: 'searchTranscripts',
  method: 'get',
  path: '/search/transcripts',
  summary: 'Search the words of films',
  description:
    'Cues of the text subtitles that the server holds, at their corrected times. Hits of one item are gathered, and `more` counts the rest; with the `itemId` of a single film all are listed by time. Quotes find a phrase also over two cues.',
  access: views,
  query: TranscriptsQuery,
  answer: page(TranscriptHit, { partial }),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    return searchTranscriptsPage(call, query);
  },
});

export const suggest = defineEndpoint({
  operationId: 'suggest',
  method: 'get',
  path: '/search/suggest',
  summary: 'Suggest titles and names for the letters typed so far',
  description:
    'For every key press: titles and names with these words, the last as a beginning. A later question of the same device ends the work of an earlier one, whose answer is then empty.',
  access: views,
  query: SuggestQuery,
  answer: json(200, Suggestions),
  errors: ['RATE_LIMITED'],

  async handle({ query }, call) {
    return suggestions(call, query);
  },
});

import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import {
  answerMembers,
  CinemasQuery,
  DiscoverDetail,
  DiscoverTitle,
  DiscsQuery,
  SearchQuery,
  ServicesQuery,
  StreamingQuery,
  StreamingServices,
  TitleParams,
  TitleQuery,
} from './discover.schemas.ts';
import { cinemas, discs, streaming } from './lists/lists.ts';
import { services } from './services/services.ts';
import { titleDetail } from './titles/detail.ts';
import { searchTitles } from './titles/search.ts';

const views = { permission: 'library:view' } as const;
const answer = page(DiscoverTitle, answerMembers);

export const listInCinemas = defineEndpoint({
  operationId: 'listInCinemas',
  method: 'get',
  path: '/discover/cinemas',
  summary: 'List films in cinemas',
  description:
    '`now` is a release in cinemas within 8 weeks and none yet to stream or on disc; `upcoming` is the next 6 months, by date. Without a source that knows popularity the newest release comes first. `sources` and `missing` say what the list is made of.',
  access: views,
  query: CinemasQuery,
  answer,
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return cinemas(call, query);
  },
});

export const listNewOnDisc = defineEndpoint({
  operationId: 'listNewOnDisc',
  method: 'get',
  path: '/discover/discs',
  summary: 'List films on disc',
  description: 'Releases of the last 90 days, or of the next 180. A film without a dated release on disc is left out.',
  access: views,
  query: DiscsQuery,
  answer,
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return discs(call, query);
  },
});

export const listToStream = defineEndpoint({
  operationId: 'listToStream',
  method: 'get',
  path: '/discover/streaming',
  summary: 'List titles to stream',
  description:
    'What this server first saw on offer last comes first. `services` is `mine` unless it names some; without chosen services that means all, and `missing` has `services-not-chosen`.',
  access: views,
  query: StreamingQuery,
  answer,
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return streaming(call, query);
  },
});

export const searchDiscoverTitles = defineEndpoint({
  operationId: 'searchDiscoverTitles',
  method: 'get',
  path: '/discover/titles',
  summary: 'Search titles anywhere',
  description:
    'Films and shows of this server and of catalogues, each once. Catalogues have 3 seconds. An id as `q`, such as tt0113277 or tmdb:949, finds that title. At most 100 results, and 60 searches a minute.',
  access: views,
  query: SearchQuery,
  answer,
  errors: ['FORBIDDEN', 'RATE_LIMITED'],

  async handle({ query }, call) {
    return searchTitles(call, query);
  },
});

export const getDiscoverTitle = defineEndpoint({
  operationId: 'getDiscoverTitle',
  method: 'get',
  path: '/discover/titles/:titleId',
  summary: 'Get a title and where it can be watched',
  description:
    'Any id of the title is accepted. 502 only when its details are stored nowhere and every source that could have them fails.',
  access: views,
  params: TitleParams,
  query: TitleQuery,
  answer: json(200, DiscoverDetail),
  errors: ['FORBIDDEN', 'NOT_FOUND', 'PROVIDER_UNAVAILABLE'],

  async handle({ params, query }, call) {
    return titleDetail(call, params.titleId, query);
  },
});

export const listStreamingServices = defineEndpoint({
  operationId: 'listStreamingServices',
  method: 'get',
  path: '/discover/services',
  summary: 'List streaming services',
  description:
    'The built-in services of the country and those that providers know there, with the most known titles first.',
  access: views,
  query: ServicesQuery,
  answer: json(200, StreamingServices),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return services(call, query);
  },
});

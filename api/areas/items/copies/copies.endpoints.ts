import { z } from 'zod';
import { bytes, defineEndpoint } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { commaList, IdParams, queryBool, queryInt } from '#kernel/schemas.ts';
import { typesOf } from '../listing/browse.ts';
import { rulesFor } from '../listing/listing.ts';
import { getVisibleLibrary, shelvesOf } from '../listing/shelves.store.ts';
import { LibraryChange } from '../listing.schemas.ts';
import { itemFilter, typesQuery } from '../queries.ts';
import { libraryChanges } from './changes.ts';
import { checkFields, exportItems } from './exports.ts';

export const listLibraryChanges = defineEndpoint({
  operationId: 'listLibraryChanges',
  method: 'get',
  path: '/libraries/:id/changes',
  summary: 'What changed in a library, for clients that keep a copy',
  description:
    'Without since, the present end and no items. One entry an item, the latest; what the caller may not see any more is deleted. The cursor always comes back: ask with it again later. 409 cursor-expired after 30 days.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    limit: queryInt(1, 200).default(50),
    since: z.string().max(2000).optional().describe('A cursor of this operation'),
    cursor: z.string().max(2000).optional().describe('The same as since'),
    state: queryBool.default(false),
  }),
  answer: page(LibraryChange),
  errors: ['CONFLICT'],

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    return libraryChanges(call, library, { ...query, since: query.since ?? query.cursor });
  },
});

export const exportLibraryItems = defineEndpoint({
  operationId: 'exportLibraryItems',
  method: 'get',
  path: '/libraries/:id/export',
  summary: 'All items of a library as NDJSON or CSV',
  description:
    'From one snapshot, in order of id. NDJSON ends with a line {"end":true,"count":n}; either has the count in the trailer X-Count. Members are those of ItemDetail, and paths for those who may manage libraries. One running export an account.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    format: z.enum(['ndjson', 'csv']).default('ndjson'),
    type: typesQuery,
    fields: commaList(z.string().max(60), 60).optional(),
    view: z.enum(['items', 'all']).default('all'),
    sort: z.literal('id').optional(),
    filter: itemFilter,
  }),
  answer: bytes('application/x-ndjson', 'text/csv'),
  errors: ['RATE_LIMITED'],

  async handle({ params, query }, call) {
    checkFields(call, query.fields);
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    const types = typesOf(library, query.type, query.view);
    const rules = rulesFor(call, types, query.filter);
    call.reply.header('Cache-Control', 'no-store');
    const csv = query.format === 'csv';
    const type = csv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
    if (call.method === 'HEAD') return { body: null, type };
    const listing = { types, shelves: shelvesOf([library], types) };
    const take = await exportItems(call, { ...query, rules, listing });
    call.reply.header('Trailer', 'X-Count'); // not of a refusal, which has a length
    return { body: null, type, take };
  },
});

import { z } from 'zod';
import { bytes, defineEndpoint } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { commaList, IdParams, queryBool, queryInt } from '#kernel/schemas.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
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
  summary: 'List what changed in a library',
  description:
    "Serves clients that keep a copy. Each changed item has one entry, its latest; an item that the caller may no longer see is reported as deleted. Without `since` the page is empty and its cursor marks the present. The page always carries a cursor: pass it as `since` in the next request. A cursor older than 30 days, or from before a change of the caller's visibility rules, is 409 `cursor-expired`.",
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
  summary: 'Export the items of a library as NDJSON or CSV',
  description:
    'Streams one snapshot in order of id. NDJSON ends with the line {"end":true,"count":n}, and both formats send the count in the trailer X-Count, so a client can detect a truncated export. Members are those of ItemDetail; `paths` needs `library:manage`. An account may run one export at a time, and a second one is 429. CSV cells that look like a formula begin with a quote mark.',
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
    await knowCustomFields(call, { texts: [query.filter] });
    const rules = rulesFor(call, types, query.filter);
    call.reply.header('Cache-Control', 'no-store');
    const csv = query.format === 'csv';
    const type = csv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
    if (call.method === 'HEAD') return { body: null, type };
    const listing = { types, shelves: shelvesOf([library], types) };
    const take = await exportItems(call, { ...query, rules, listing });
    call.reply.header('Trailer', 'X-Count'); // an error response has a length and no trailer
    return { body: null, type, take };
  },
});

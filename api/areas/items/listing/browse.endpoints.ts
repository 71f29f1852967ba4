import { z } from 'zod';
import { defineEndpoint } from '#kernel/endpoint.ts';
import { page, pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, IdParams, queryBool } from '#kernel/schemas.ts';
import { ItemCard, ListedItem } from '../items.schemas.ts';
import { libraryPage, libraryPageAtOnce } from '../library-views/library-list.ts';
import { idList, itemFilter, typesQuery } from '../queries.ts';
import { includeQuery, listRelations } from './includes.ts';
import { serverPage, serverSorts } from './server-list.ts';
import { librarySorts } from './sorts.ts';

export const listItems = defineEndpoint({
  operationId: 'listItems',
  method: 'get',
  path: '/items',
  summary: 'List items of all visible libraries',
  description:
    'Without `type` it returns the top types of each library. `ids` or `externalIds` returns one page without a cursor, in the given order and without unknown or hidden items; both together are 400. The response has an ETag.',
  access: { permission: 'library:view' },
  query: z.object({
    ...pageQuery,
    ids: idList,
    externalIds: commaList(z.string().regex(/^[a-z0-9_-]{1,40}:[^\0]{1,200}$/i, 'provider:id'), 200).optional(),
    libraryIds: commaList(Id, 100).optional(),
    type: typesQuery,
    sort: sortQuery(serverSorts, 'custom.'),
    filter: itemFilter,
    include: includeQuery([...listRelations, 'custom', 'externalIds', 'userState']),
  }),
  answer: page(ListedItem),

  async handle({ query }, call) {
    return serverPage(call, query);
  },
});

export const listLibraryItems = defineEndpoint({
  operationId: 'listLibraryItems',
  method: 'get',
  path: '/libraries/:id/items',
  summary: 'List the items of a library',
  description:
    'Pages use keyset cursors, and `page.previous` reads backwards. `around` returns the page that has the given item in its middle. `folder` limits the list to a folder, and with `deep` to its subfolders too. Without `sort`, photos are sorted by -takenAt, albums of a music library by artist and year, and all others by title.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    ...pageQuery,
    type: typesQuery,
    view: z.enum(['items', 'all']).default('items'),
    folder: z.string().max(6000).optional().describe('A FolderNode id'),
    deep: queryBool.default(false),
    around: Id.optional(),
    fields: z.enum(['card', 'summary']).default('summary'),
    sort: sortQuery(librarySorts, 'custom.'),
    filter: itemFilter,
    include: includeQuery([...listRelations, 'parents', 'custom', 'externalIds', 'userState']),
  }),
  answer: page(z.union([ListedItem, ItemCard])),

  async handle({ params, query }, call) {
    return (await libraryPageAtOnce(call, params.id, query)) ?? libraryPage(call, params.id, query);
  },
});

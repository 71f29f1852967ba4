import { z } from 'zod';
import { defineEndpoint } from '#kernel/endpoint.ts';
import { page, pageQuery, sortQuery } from '#kernel/page.ts';
import { IdParams, queryBool } from '#kernel/schemas.ts';
import { itemAt } from '../item/merged.ts';
import { hasMissing } from '../item/missing.store.ts';
import { listMissing, type MissingPlace, missingOrder } from '../item/missing.ts';
import { getVisibleLibrary } from '../listing/shelves.store.ts';
import { sliceOf } from '../listing/slices.ts';
import { FolderNode, MissingChild } from '../listing.schemas.ts';
import { browseFolders } from './browse-folders.ts';
import { folderSorts } from './folder-nodes.store.ts';

export const browseLibraryFolders = defineEndpoint({
  operationId: 'browseLibraryFolders',
  method: 'get',
  path: '/libraries/:id/browse',
  summary: 'List the folders of a library that hold visible items',
  description:
    'Reads the database, not the storage. Without `folder` it returns the folders of the library itself; `parents` holds the path to the current folder. Without `library:manage` the library must have `folderView`, otherwise the response is 403 with `details.setting`. The items of a folder are listed by listLibraryItems with `folder`.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    ...pageQuery,
    folder: z.string().max(6000).optional(),
    sort: sortQuery(folderSorts),
  }),
  answer: page(FolderNode, {
    parents: z.array(
      z.object({ id: z.string().meta({ example: 'RmlsbXM' }), name: z.string().meta({ example: 'Films' }) }),
    ),
  }),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    return browseFolders(call, library, query);
  },
});

export const listMissingChildren = defineEndpoint({
  operationId: 'listMissingChildren',
  method: 'get',
  path: '/items/:id/missing',
  summary: 'List known children that no library holds',
  description:
    'Returns episodes, albums, books or comics that the metadata agent knows and no library of the caller holds. The data is from the last refresh; no agent is called. An item that no agent has identified is 409 `not-matched`; a type without such children is an empty page.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    ...pageQuery,
    aired: queryBool.optional(),
    specials: queryBool.default(false),
    sort: z
      .string()
      .max(200)
      .meta({ 'x-list': { items: { enum: ['releasedOn', '-releasedOn', 'index', '-index'] }, maxItems: 1 } })
      .optional()
      .describe('releasedOn, index'),
  }),
  answer: page(MissingChild),
  errors: ['CONFLICT'],

  async handle({ params, query }, call) {
    const order = missingOrder(query.sort ?? 'releasedOn');
    const item = await itemAt(call, params.id, (id) => `/items/${id}/missing`);
    const all = hasMissing(item.type) ? await listMissing(call, item, query) : [];
    return sliceOf<MissingPlace, MissingChild>(call, all.sort(order), {
      ...query,
      order,
      scope: `listMissingChildren|${item.id}|${query.sort ?? ''}|${query.aired ?? ''}|${query.specials}`,
      placeOf: ({ type, title, parentIndex, index, releasedOn }) => ({ type, title, parentIndex, index, releasedOn }),
      keyOf: (child) => `${child.type}|${child.parentIndex ?? ''}|${child.index ?? ''}|${child.title}`,
    });
  },
});

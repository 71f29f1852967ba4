import { z } from 'zod';
import { may } from '#identity/principal.ts';
import { defineEndpoint } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { page, pageOf, pageQuery, parseSort } from '#kernel/page.ts';
import { IdParams, queryBool } from '#kernel/schemas.ts';
import { itemAt } from '../item/merged.ts';
import { hasMissing } from '../item/missing.store.ts';
import { listMissing, type MissingPlace, missingOrder } from '../item/missing.ts';
import { getVisibleLibrary, type LibraryRow } from '../listing/shelves.store.ts';
import { sliceOf } from '../listing/slices.ts';
import { FolderNode, MissingChild } from '../listing.schemas.ts';
import { folderNodes, folderSorts, type NodeRow, toFolderNode } from './folder-nodes.store.ts';
import { getFolder, listLibraryFolders, prefixOf } from './folders.store.ts';
import { folderNodeId } from './folders.ts';

/** Photos and videos are shown by folders unless the library says otherwise. */
function showsFolders({ type, settings }: LibraryRow): boolean {
  return Boolean(settings.folderView ?? ['photos', 'videos'].includes(type));
}

export const browseLibraryFolders = defineEndpoint({
  operationId: 'browseLibraryFolders',
  method: 'get',
  path: '/libraries/:id/browse',
  summary: 'Folders of a library that hold visible items',
  description:
    "From the rows, not the storage. Without folder, the library's own folders. Items of a folder: listLibraryItems with folder.",
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    ...pageQuery,
    folder: z.string().max(6000).optional(),
    sort: z.string().max(200).optional().describe('name, itemCount'),
  }),
  answer: page(FolderNode, {
    parents: z.array(
      z.object({ id: z.string().meta({ example: 'RmlsbXM' }), name: z.string().meta({ example: 'Films' }) }),
    ),
  }),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    if (!may(call.who, 'library:manage') && !showsFolders(library)) {
      throw new ApiError('FORBIDDEN', 'This library is not shown by folders', { setting: 'folderView' });
    }
    const folders = await listLibraryFolders(call.db, library.id);
    const at = query.folder === undefined ? undefined : await getFolder(call.db, library.id, query.folder);
    const level = at
      ? { top: false, folders: [{ ...at.folder, prefix: at.prefix }] }
      : { top: true, folders: folders.map((one) => ({ ...one, prefix: prefixOf(one.path) })) };
    const answer = await pageOf<NodeRow, FolderNode>(call.db, folderNodes(call, level), {
      keys: call.deps.keys,
      terms: parseSort(query.sort, folderSorts, 'name'),
      cursor: query.cursor,
      limit: query.limit,
      scope: `browseLibraryFolders|${library.id}|${query.folder ?? ''}|${call.who.profileId}`,
      idColumn: 'n.id',
      toItem: (row) => toFolderNode(row, { path: at?.place.path ?? '', top: !at }),
    });
    return { ...answer, parents: at ? parentsOf(at) : [] };
  },
});

/** From the library's folder down to the one that is shown. */
function parentsOf({ place, folder }: Awaited<ReturnType<typeof getFolder>>): { id: string; name: string }[] {
  const segments = place.path.split('/').filter(Boolean);
  const below = segments.map((name, i) => ({
    id: folderNodeId({ folderId: folder.id, path: segments.slice(0, i + 1).join('/') }),
    name,
  }));
  return [{ id: folderNodeId({ folderId: folder.id, path: '' }), name: folder.name }, ...below];
}

export const listMissingChildren = defineEndpoint({
  operationId: 'listMissingChildren',
  method: 'get',
  path: '/items/:id/missing',
  summary: 'List what the agent knows of a show, artist or series and nobody has',
  description: 'From the last refresh, never a live call. 409 not-matched when no agent has identified the item.',
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

import { z } from 'zod';
import { type Call, defineEndpoint } from '#kernel/endpoint.ts';
import { page, pageQuery } from '#kernel/page.ts';
import { commaList, Id, IdParams, queryBool } from '#kernel/schemas.ts';
import { givenItems, itemsPage, rollupTotal, toCard, typesOf, usualSort } from './browse.ts';
import { getFolder, inFolder } from './folders.store.ts';
import { includeQuery } from './includes.ts';
import { ItemCard, ListedItem } from './items.schemas.ts';
import { dayOf, type Listing, moves, rulesFor } from './listing.ts';
import { filterQuery, idList, listScope, sortText, typesQuery } from './queries.ts';
import { getVisibleLibrary, listVisibleLibraries, shelvesOf } from './shelves.store.ts';
import { byArtist, librarySorts, type SortName } from './sorts.ts';
import { NOTHING, unchanged } from './versions.store.ts';

const serverSorts: readonly SortName[] = [
  'title',
  'addedAt',
  'releasedOn',
  'year',
  'rating',
  'runtimeMs',
  'lastPlayedAt',
  'playCount',
  'takenAt',
  'sizeBytes',
  'random',
];

/** True when the caller has this list already. A filter by relative dates changes by itself and is always read. */
async function known(
  call: Call,
  libraryIds: readonly string[],
  about: { types: readonly string[]; filter: string | undefined },
): Promise<boolean> {
  if (moves(rulesFor(call, about.types, about.filter))) return false;
  return unchanged(call, { libraryIds, more: dayOf(call) });
}

export const listItems = defineEndpoint({
  operationId: 'listItems',
  method: 'get',
  path: '/items',
  summary: 'List items of every library the caller sees, or items by their ids',
  description:
    'Without type, the top types of each library. ids or externalIds answers one page without cursor, in the order given.',
  access: { permission: 'library:view' },
  query: z.object({
    ...pageQuery,
    ids: idList,
    externalIds: commaList(z.string().regex(/^[a-z0-9_-]{1,40}:[^\0]{1,200}$/i, 'provider:id'), 200).optional(),
    libraryIds: commaList(Id, 100).optional(),
    type: typesQuery,
    sort: sortText(serverSorts),
    filter: filterQuery,
    include: includeQuery([
      'files',
      'streams',
      'people',
      'studios',
      'genres',
      'labels',
      'collections',
      'custom',
      'externalIds',
      'userState',
    ]),
  }),
  answer: page(ListedItem),

  async handle({ query }, call) {
    const libraries = await listVisibleLibraries(call.db, call.who, query.libraryIds);
    const named = query.ids ?? query.externalIds;
    const listing: Listing = {
      types: query.type ?? [],
      ...(named ? {} : { shelves: shelvesOf(libraries, query.type) }),
      narrow: (q) => {
        if (!named) return;
        q.whereRaw('i.library_id = any(?::uuid[])', [libraries.map((library) => library.id)]);
        if (query.type) q.whereIn('i.type', query.type);
      },
    };
    if (named) return givenItems(call, listing, query);
    if (
      await known(
        call,
        libraries.map((library) => library.id),
        { types: listing.types, filter: query.filter },
      )
    )
      return NOTHING;
    return itemsPage(call, listing, {
      ...query,
      scope: ['listItems', ...listing.types, ...(query.libraryIds ?? [])].join('|'),
      fallback: 'title',
      sorts: serverSorts,
    });
  },
});

export const listLibraryItems = defineEndpoint({
  operationId: 'listLibraryItems',
  method: 'get',
  path: '/libraries/:id/items',
  summary: 'List the items of a library',
  description:
    'Keyset pages; page.previous reads backwards. around starts with the page that has an item in its middle. Photos are sorted by -takenAt, albums of a music library by artist and year when sort is absent.',
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
    sort: sortText(librarySorts),
    filter: filterQuery,
    include: includeQuery([
      'files',
      'streams',
      'people',
      'studios',
      'genres',
      'labels',
      'collections',
      'parents',
      'custom',
      'externalIds',
      'userState',
    ]),
  }),
  answer: page(z.union([ListedItem, ItemCard])),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    const types = typesOf(library, query.type, query.view);
    if (await known(call, [library.id], { types, filter: query.filter })) return NOTHING;
    const folder = query.folder === undefined ? undefined : await getFolder(call.db, library.id, query.folder);
    const listing: Listing = {
      types,
      shelves: shelvesOf([library], types),
      narrow: (q) => {
        if (folder) inFolder(q, { folderId: folder.folder.id, prefix: folder.prefix, deep: query.deep });
      },
    };
    const answer = await itemsPage(call, listing, {
      ...query,
      scope: listScope(
        library.id,
        types,
        query.folder === undefined ? undefined : { id: query.folder, deep: query.deep },
      ),
      fallback: usualSort(library, types),
      sorts: librarySorts,
      ...(query.sort === undefined ? { moreSorts: { artist: byArtist } } : {}),
      backwards: true,
      ...(folder ? {} : { total: rollupTotal(call, [library], types) }),
    });
    return query.fields === 'card' ? { ...answer, items: answer.items.map(toCard) } : answer;
  },
});

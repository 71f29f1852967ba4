import { z } from 'zod';
import { defineEndpoint } from '#kernel/endpoint.ts';
import { page, pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, IdParams, queryBool } from '#kernel/schemas.ts';
import { NOTHING, unchanged } from '../files/versions.store.ts';
import { ItemCard, ListedItem } from '../items.schemas.ts';
import { libraryPage, libraryPageAtOnce } from '../library-views/library-list.ts';
import { idList, itemFilter, typesQuery } from '../queries.ts';
import { givenItems, itemsAnswer } from './browse.ts';
import { includeQuery } from './includes.ts';
import { dayOf, type Listing, moves, rulesFor } from './listing.ts';
import { listVisibleLibraries, shelvesOf } from './shelves.store.ts';
import { librarySorts, type SortName } from './sorts.ts';
import { titleSort } from './title-order.ts';

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

/** What lists of items may bring along. */
const relations = ['files', 'streams', 'people', 'studios', 'genres', 'labels', 'collections'] as const;

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
    sort: sortQuery(serverSorts),
    filter: itemFilter,
    include: includeQuery([...relations, 'custom', 'externalIds', 'userState']),
  }),
  answer: page(ListedItem),

  async handle({ query }, call) {
    const libraries = await listVisibleLibraries(call.db, call.who, query.libraryIds);
    const named = query.ids ?? query.externalIds;
    const listing: Listing = {
      types: query.type ?? [],
      ...(named ? {} : { shelves: shelvesOf(libraries, query.type) }),
      ...(named
        ? {
            narrow: (q) => {
              q.whereRaw('i.library_id = any(?::uuid[])', [libraries.map((library) => library.id)]);
              if (query.type) q.whereIn('i.type', query.type);
            },
          }
        : {}),
    };
    if (named) return givenItems(call, listing, query);
    // A filter by relative dates changes by itself and is always read.
    const moving = moves(rulesFor(call, listing.types, query.filter));
    const libraryIds = libraries.map((library) => library.id);
    if (!moving && (await unchanged(call, { libraryIds, more: dayOf(call) }))) return NOTHING;
    return itemsAnswer(call, listing, {
      ...query,
      scope: ['listItems', ...listing.types, ...(query.libraryIds ?? [])].join('|'),
      fallback: 'title',
      sorts: serverSorts,
      moreSorts: titleSort(call, libraries),
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
    sort: sortQuery(librarySorts),
    filter: itemFilter,
    include: includeQuery([...relations, 'parents', 'custom', 'externalIds', 'userState']),
  }),
  answer: page(z.union([ListedItem, ItemCard])),

  async handle({ params, query }, call) {
    return (await libraryPageAtOnce(call, params.id, query)) ?? libraryPage(call, params.id, query);
  },
});

import type { Call } from '#kernel/endpoint.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { NOTHING, unchanged } from '../files/versions.store.ts';
import { givenItems, itemsAnswer, type itemsPage } from './browse.ts';
import { dayOf } from './day.ts';
import { isTimeDependent, type Listing, rulesFor } from './listing.ts';
import { type LibraryRow, listVisibleLibraries, shownShelvesOf } from './shelves.store.ts';
import type { SortName } from './sorts.ts';
import { titleSort } from './title-order.ts';

export const serverSorts: readonly SortName[] = [
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

interface ServerQuery {
  ids?: string[] | undefined;
  externalIds?: string[] | undefined;
  libraryIds?: string[] | undefined;
  type?: string[] | undefined;
  sort?: string | undefined;
  filter?: string | undefined;
  include?: string[] | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Items of every library that the caller may see, or the items of the given ids. */
export async function serverPage(call: Call, query: ServerQuery): ReturnType<typeof itemsPage> {
  await knowCustomFields(call, { texts: [query.filter] });
  const libraries = await listVisibleLibraries(call.db, call.who, query.libraryIds);
  if (query.ids ?? query.externalIds) return givenItems(call, inLibraries(libraries, query.type), query);
  const shelves = shownShelvesOf(libraries, query.type);
  const listing: Listing = { types: query.type ? [...query.type, ...shelves.map(({ type }) => type)] : [], shelves };
  // The result of a filter by relative dates changes without a write, so it is always read.
  const moving = isTimeDependent(rulesFor(call, listing.types, query.filter));
  const libraryIds = libraries.map((library) => library.id);
  if (!moving && (await unchanged(call, { libraryIds, more: dayOf(call) }))) return NOTHING;
  return itemsAnswer(call, listing, {
    ...query,
    scope: ['listItems', ...(query.type ?? []), ...(query.libraryIds ?? [])].join('|'),
    fallback: 'title',
    sorts: serverSorts,
    moreSorts: titleSort(call, libraries),
  });
}

function inLibraries(libraries: readonly LibraryRow[], types: readonly string[] | undefined): Listing {
  return {
    types: types ?? [],
    narrow: (q) => {
      q.whereRaw('i.library_id = any(?::uuid[])', [libraries.map((library) => library.id)]);
      if (types) q.whereRaw('coalesce(i.own_type, i.type) = any(?::text[])', [[...types]]);
    },
  };
}

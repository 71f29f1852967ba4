// Rows of lists that people keep: collections and saved filters.
import { findCollectionRow, firstOfCollection, pinnedToHome } from '#areas/collections/public.ts';
import { shelvesOf } from '#areas/items/public.ts';
import { findAppliedFilter } from '#areas/saved-filters/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { HomeLayout, LayoutRow } from '../layout/layout.schemas.ts';
import { onlyOnHome, onlyShown } from './cards.view.ts';
import { first } from './lists.ts';
import type { Found, Reading } from './reader.ts';

const GONE: Found = { cards: [], gone: 'The saved filter is gone' };

/** The first items of a collection in its own order. */
export async function ofCollection(reading: Reading): Promise<Found> {
  const { call, row, limit } = reading;
  const collection = await findCollectionRow(call, row.source?.collectionId ?? '');
  if (!collection) return { cards: [] };
  const ids = await firstOfCollection(call, collection, {
    limit,
    unwatched: row.hideWatched,
    narrow: (query) => {
      onlyOnHome(query, reading);
      onlyShown(query, reading);
    },
  });
  return { cards: ids.map((id) => ({ id })), title: collection.name };
}

/** The first items that a saved filter finds in its library. */
export async function ofSavedFilter(reading: Reading): Promise<Found> {
  const { call, row, libraries } = reading;
  const saved = await findAppliedFilter(call, row.source?.filterId ?? '');
  if (!saved) return GONE;
  const shelves = shelvesOf(
    libraries.filter(({ id }) => id === saved.libraryId),
    undefined,
  );
  const { filter, sort } = saved;
  const query = new URLSearchParams({ ...(filter && { filter }), sort });
  const seeAll = `/library/${saved.libraryId}?${query.toString()}`;
  return {
    ...(await first(reading, { shelves, filter: filter || undefined, sort: row.source?.sort ?? sort })),
    title: saved.name,
    seeAll,
  };
}

/** Rows of collections that are pinned to Home, and that no row of the layout shows. */
export async function pinnedRows(call: Call, { rows }: HomeLayout): Promise<LayoutRow[]> {
  const there = new Set(rows.map(({ source }) => source?.collectionId));
  const pinned = await pinnedToHome(call);
  return pinned
    .filter(({ id }) => !there.has(id))
    .map(({ id }) => ({
      ...{ rowId: `collection.${id}`, kind: 'collection', size: 20, hideWatched: false, source: { collectionId: id } },
    }));
}

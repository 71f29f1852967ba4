import {
  firstIds,
  type Listing,
  onlyUnwatched,
  type SmartList,
  type SortName,
  serverSorts,
  smartList,
} from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Rules } from '#kernel/filter.ts';
import type { SortTable } from '#kernel/sort.ts';
import type { CollectionRow } from '../collection/collections.store.ts';

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** The list of a collection's items as the caller sees them. */
export interface CollectionList {
  listing: Listing;
  /** Conditions of a smart one. */
  within: Rules;
  /** The order without a sort. */
  fallback: string;
  /** The order by hand; of a smart one that of its rules. */
  byHand: string;
  sorts: readonly SortName[];
  moreSorts: SortTable;
  ignored: SmartList['ignored'];
}

/** The order by hand. */
const byHand: SortTable = { manual: { column: 'ci.position', type: 'bigint' } };

export async function collectionList(
  call: Caller,
  row: Pick<CollectionRow, 'id' | 'kind' | 'rules' | 'sort'>,
): Promise<CollectionList> {
  if (row.kind === 'smart' && row.rules) {
    const { listing, rules, sort, moreSorts, ignored } = await smartList(call, row.rules);
    return { listing, within: rules, fallback: row.sort ?? sort, byHand: sort, sorts: serverSorts, moreSorts, ignored };
  }
  return {
    listing: {
      types: [],
      narrow: (query) => query.join('collection_items as ci', 'ci.item_id', 'i.id').where('ci.collection_id', row.id),
      // as an array, so that Postgres looks up each item; for a join it would read all items of the server
      narrowCount: (query) =>
        query.whereRaw('i.id = any(array(select item_id from collection_items where collection_id = ?))', [row.id]),
    },
    within: { all: [] },
    fallback: row.sort ?? 'manual',
    byHand: 'manual',
    sorts: serverSorts,
    moreSorts: byHand,
    ignored: [],
  };
}

interface First {
  limit: number;
  /** Leaves out what the profile has watched. */
  unwatched: boolean;
  narrow: NonNullable<Listing['narrow']>;
}

/** Ids of the first items in the collection's own order. */
export async function firstOfCollection(
  call: Caller,
  row: Pick<CollectionRow, 'id' | 'kind' | 'rules' | 'sort'>,
  { limit, unwatched, narrow }: First,
): Promise<string[]> {
  const list = await collectionList(call, row);
  const listing: Listing = {
    ...list.listing,
    narrow: (query) => {
      list.listing.narrow?.(query);
      narrow(query);
      if (unwatched) onlyUnwatched(query, call.who);
    },
  };
  return firstIds(call, listing, { ...list, limit });
}

import { onlyShownCollections } from '#identity/collection-sight.ts';
import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { countBeyond, type Key, keyOfRow, rowOf, type Walk, walk } from '#kernel/keyset.ts';
import { countUpTo, type SortTerm } from '#kernel/page.ts';
import { Id } from '#kernel/schemas.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import type { VisibleItem } from '../item/items.store.ts';
import { listSummaries } from '../item/summaries.store.ts';
import type { ItemSummary } from '../items.schemas.ts';
import { type Listing, listed, rulesFor, sortOf } from './listing.ts';
import { childOrder, type SortName } from './sorts.ts';
import { titleSort } from './title-order.ts';

export const neighbourSorts: readonly SortName[] = [
  'index',
  'title',
  'addedAt',
  'releasedOn',
  'takenAt',
  'rating',
  'random',
];

export interface NeighbourQuery {
  within: string;
  radius: number;
  sort?: string | undefined;
  filter?: string | undefined;
}

export interface Neighbours {
  before: ItemSummary[];
  after: ItemSummary[];
  position?: number;
  total?: number;
}

const FAR = 10_000;

/**
 * The items before and after an item in a list, by keyset in both directions. The item itself need not match the
 * filter.
 */
export async function neighboursOf(call: Call, item: VisibleItem, options: NeighbourQuery): Promise<Neighbours> {
  const listing = listingWithin(call.who, item, options.within);
  if (!listing) return { before: [], after: [] };
  await knowCustomFields(call, { sort: options.sort, texts: [options.filter] });
  const { terms } = sortOf(call, {
    scope: 'neighbours',
    sort: options.sort,
    fallback: options.within === 'library' ? 'title' : 'index',
    sorts: neighbourSorts,
    moreSorts: {
      ...titleSort(call, [{ settings: item.librarySettings }]),
      ...(options.within === 'library' ? {} : { index: childOrder(false) }),
    },
  });
  const list = walkOver(call, listing, { terms, filter: options.filter });
  const from = await keyOfItem(call, item, terms);
  const near = async (backwards: boolean): Promise<ItemSummary[]> => {
    const rows = await walk(list, { from, backwards, limit: options.radius });
    const ids = rows.map((row) => row.id);
    return listSummaries(call.db, call.who, backwards ? ids.reverse() : ids);
  };
  const [before, after, ahead, { total }] = await Promise.all([
    near(true),
    near(false),
    countBeyond(list, { from, backwards: true, limit: FAR }),
    countUpTo(call.db, list.query),
  ]);
  return { before, after, total, ...(ahead < FAR ? { position: ahead + 1 } : {}) };
}

function walkOver(
  call: Call,
  listing: Listing,
  { terms, filter }: { terms: SortTerm[]; filter: string | undefined },
): Walk {
  const query = listed(call, listing, rulesFor(call, listing.types, filter)).select('i.id');
  return { db: call.db, query, terms, idColumn: 'i.id' };
}

async function keyOfItem(call: Call, item: VisibleItem, terms: SortTerm[]): Promise<Key> {
  const alone: Listing = { types: [item.type], narrow: (query) => query.where('i.id', item.id) };
  const list = walkOver(call, alone, { terms, filter: undefined });
  const row = await rowOf(list, item.id);
  if (!row) throw notFound(); // an extra is in no list
  return keyOfRow(terms, row);
}

/** Undefined for an unknown list. An episode continues into the next season. */
function listingWithin(who: Principal, item: VisibleItem, within: string): Listing | undefined {
  if (within === 'library') return { types: [item.type], shelves: [{ libraryId: item.libraryId, type: item.type }] };
  if (within.startsWith('collection:')) {
    const id = within.slice('collection:'.length);
    if (!Id.safeParse(id).success) return undefined;
    return {
      types: [],
      narrow: (query) =>
        query.whereExists((held) => {
          held.from('collection_items as ci').join('collections as c', 'c.id', 'ci.collection_id');
          held.whereRaw('ci.item_id = i.id and c.id = ?::uuid', [id]).modify(onlyShownCollections, who);
        }),
    };
  }
  if (within !== 'parent') return undefined;
  const whole = ['episode', 'track', 'lesson'].includes(item.type) ? item.grandparentId : null;
  const parent = item.parentId;
  return {
    types: [item.type],
    narrow: (query) => {
      query.where('i.type', item.type);
      if (item.type === 'episode' && whole) query.where('i.grandparent_id', whole);
      else if (parent) query.where('i.parent_id', parent);
      else query.where('i.library_id', item.libraryId).whereNull('i.parent_id');
    },
  };
}

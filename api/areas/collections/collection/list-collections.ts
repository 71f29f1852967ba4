import type { Knex } from 'knex';
import { getVisibleItem, getVisibleLibrary } from '#areas/items/public.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { type Collection, type CollectionsQuery, collectionSorts } from '../collections.schemas.ts';
import { isMine, toCollections } from './answer.ts';
import type { CollectionRow } from './collections.store.ts';
import { type Facts, factsOf } from './facts.ts';
import { sharedWith } from './find.ts';
import { holds } from './pictures.ts';

/** Smart collections that are tried one by one, the newest. */
const MOST_TRIED = 200;

/** A page of the collections that the caller may see. */
export async function listCollections(
  call: Call,
  query: CollectionsQuery,
): Promise<{ items: Collection[]; page: Page }> {
  const { db, who, deps } = call;
  const { cursor, limit, sort } = query;
  if (query.itemId !== undefined) await getVisibleItem(db, who, query.itemId);
  if (query.libraryId !== undefined) await getVisibleLibrary(db, who, query.libraryId);
  const terms = parseSort(sort, collectionSorts, 'sortName');
  const rows = sharedWith(call).modify((all) => narrow(call, all, query));
  const tried = await tryEach(
    call,
    query,
    terms.some(({ name }) => name === 'itemCount'),
  );
  rows.where((any) => void any.where('c.kind', 'manual').orWhereRaw('c.id = any(?::uuid[])', [[...tried.shown]]));
  rows.joinRaw('left join unnest(?::uuid[], ?::bigint[]) as n(id, item_count) on n.id = c.id', [
    [...tried.counts.keys()],
    [...tried.counts.values()],
  ]);
  const page = await pageOf<CollectionRow, CollectionRow>(db, rows, {
    keys: deps.keys,
    terms,
    cursor,
    limit,
    scope: JSON.stringify([
      'listCollections',
      query.q,
      query.itemId,
      query.libraryId,
      query.kind,
      query.source,
      query.mine,
      who.profileId,
    ]),
    idColumn: 'c.id',
    toItem: (row) => row,
  });
  return { items: await toCollections(call, page.items), page: page.page };
}

type Wanted = Pick<CollectionsQuery, 'q' | 'kind' | 'source' | 'mine' | 'itemId' | 'libraryId'>;

function narrow({ who }: Call, query: Knex.QueryBuilder, { q, kind, source, mine, itemId, libraryId }: Wanted): void {
  if (q !== undefined) query.whereRaw('c.name_folded like foyer_fold(?)', [`%${q.replace(/[\\%_]/g, '\\$&')}%`]);
  if (kind) query.where('c.kind', kind);
  if (source) query.where('c.source', source);
  if (mine !== undefined)
    query.whereRaw(mine ? 'c.owner_id = ?::uuid' : 'c.owner_id is distinct from ?::uuid', [who.accountId]);
  if (itemId === undefined && libraryId === undefined) return;
  query.where((any) => {
    any.where('c.kind', 'smart').orWhereExists((held) => {
      held.select(held.client.raw('1')).from('collection_items as ci').join('items as i', 'i.id', 'ci.item_id');
      held.whereRaw('ci.collection_id = c.id').modify(onlyVisibleItems, who, 'i');
      if (itemId !== undefined) held.where('i.id', itemId);
      if (libraryId !== undefined) held.where('i.library_id', libraryId);
    });
  });
}

interface Tried {
  /** Ids of smart collections of the list. */
  shown: Set<string>;
  /** Items by id, when the list is sorted by them. */
  counts: Map<string, number>;
}

/** Which smart collections are in the list: their items are found by their rules alone. */
async function tryEach(call: Call, query: CollectionsQuery, counts: boolean): Promise<Tried> {
  const rows: CollectionRow[] = await sharedWith(call)
    .modify((all) => narrow(call, all, query))
    .modify((all) => void (counts || all.where('c.kind', 'smart')))
    .orderBy('c.created_at', 'desc');
  const smart = rows.filter(({ kind }) => kind === 'smart');
  const { itemId, libraryId } = query;
  const open = (row: CollectionRow): boolean =>
    isMine(call.who, row) && itemId === undefined && libraryId === undefined;
  const wanted = smart.filter((row) => !open(row)).slice(0, MOST_TRIED);
  const facts = await factsOf(call, counts ? rows : wanted);
  const shown = new Set(smart.filter(open).map(({ id }) => id));
  for (const row of wanted) if (await isShown(call, row, { query, facts: facts.get(row.id) })) shown.add(row.id);
  return { shown, counts: new Map(counts ? [...facts].map(([id, { itemCount }]) => [id, itemCount]) : []) };
}

async function isShown(
  call: Call,
  row: CollectionRow,
  { query: { itemId, libraryId }, facts }: { query: CollectionsQuery; facts: Facts | undefined },
): Promise<boolean> {
  if (!facts || (facts.itemCount === 0 && !isMine(call.who, row))) return false;
  if (libraryId !== undefined && !facts.libraryIds.includes(libraryId)) return false;
  return itemId === undefined || holds(call, row, itemId);
}

import { checkIncludes, type ListedItem, serverPage, withIncludes } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { countUpTo, EXACT, type Page, pageOf, parseSort, type SortTable, type Total } from '#kernel/page.ts';
import type { Db } from '#platform/db.ts';
import { countQuestion, type Understood, understand, visibleLibraries } from '../question/understand.ts';
import type { SearchHit } from '../search.schemas.ts';
import { candidateIds } from './candidates.view.ts';
import { itemHits, type Scored } from './item-hits.view.ts';
import { foundItems, hasConditionsOrTerms, SCORE, scopeOf, type Width } from './items.view.ts';
import { MOST_MS, within } from './within.ts';

/** Candidates of each way to find an item. */
const CAP = 5000;
/** Fewer hits than this are joined by titles that are alike. */
export const FEW = 3;

const sorts: SortTable = {
  score: { column: SCORE, type: 'double precision', descends: true },
  title: { column: 'i.sort_title', type: 'text' },
  year: { column: 'i.year', type: 'int', nullable: true },
  addedAt: { column: 'i.added_at', type: 'timestamptz' },
  rating: { column: 'i.rating', type: 'real', nullable: true },
};

interface Query {
  q?: string | undefined;
  externalId?: string | undefined;
  type?: string[] | undefined;
  libraryId?: string | undefined;
  exact: boolean;
  sort?: string | undefined;
  filter?: string | undefined;
  include?: string[] | undefined;
  cursor?: string | undefined;
  limit: number;
}

interface Answer {
  items: SearchHit[];
  page: Page;
  partial?: true;
}

/** A page of items that fit a question, or the item of an external id. */
export async function searchItemsPage(call: Call, query: Query): Promise<Answer> {
  if ((query.q === undefined) === (query.externalId === undefined)) {
    throw invalid(['query', 'q'], 'conflict', 'q or externalId, and not both');
  }
  checkIncludes(query.include, query.limit);
  await countQuestion(call);
  const { page, rows, wanted, ...rest } =
    query.q === undefined ? await byIdentity(call, query) : await byQuestion(call, query, query.q);
  const items = await itemHits(call, rows, wanted);
  return { items: await included(call, items, query.include), page, ...rest };
}

interface Found {
  rows: Scored[];
  page: Page;
  partial?: true;
  wanted: { tokens: readonly string[]; open: boolean; near?: boolean };
}

async function byIdentity(call: Call, query: Query): Promise<Found> {
  const { items, page } = await serverPage(call, {
    externalIds: [query.externalId ?? ''],
    libraryIds:
      query.libraryId === undefined ? undefined : (await visibleLibraries(call, query.libraryId)).map(({ id }) => id),
    type: query.type,
    filter: query.filter,
    limit: query.limit,
  });
  return { rows: items.map(({ id }) => ({ id, score: 1 })), page, wanted: { tokens: [], open: false } };
}

async function byQuestion(call: Call, query: Query, q: string): Promise<Found> {
  const understood = await understand(call, { ...query, q });
  const { terms } = understood;
  const wanted = { tokens: terms.tokens, open: terms.open };
  const read = (way: Width['way'], ms = MOST_MS): Promise<Omit<Found, 'wanted'> | undefined> =>
    within(call.db, ms, (db) => scoredPage({ ...call, db }, understood, { ...query, q, way }));
  if (!hasConditionsOrTerms(understood)) return { ...NONE, wanted };
  const found = await read('found');
  if (!found) return { ...((await read('titles', MOST_MS / 4)) ?? NONE), partial: true, wanted };
  if (query.cursor !== undefined ? found.rows.length > 0 : (found.page.total ?? 0) >= FEW) return { ...found, wanted };
  if (!terms.near) return { ...found, wanted };
  const near = await read('near');
  if (!near) return { ...found, partial: true, wanted };
  return near.rows.length > 0 ? { ...near, wanted: { ...wanted, near: true } } : { ...found, wanted };
}

const NONE: Omit<Found, 'wanted'> = { rows: [], page: { cursor: null, hasMore: false, total: 0 } };

/** A page of the found items; with `near`, of these and of titles that are alike, which come after them. */
async function scoredPage(
  call: Call,
  understood: Understood,
  query: Query & { q: string; way: Width['way'] },
): Promise<Omit<Found, 'wanted'>> {
  const { db, who, deps } = call;
  const { way, cursor, limit, sort, filter, ...rest } = query;
  const found = foundItems(call, understood, { cap: CAP, way, types: query.type }).select(
    'i.id',
    db.raw(`${SCORE} as score`),
  );
  const total = cursor === undefined ? await totalOf(call, understood, query) : undefined; // one connection: one after the other
  const { items: rows, page } = await pageOf<Scored, Scored>(db, found, {
    keys: deps.keys,
    terms: parseSort(sort, sorts, '-score'),
    cursor,
    limit,
    scope: JSON.stringify(['searchItems', rest, filter ?? '', way, who.profileId]),
    idColumn: 'i.id',
    toItem: ({ id, score }) => ({ id, score: Number(score) }),
    total: async () => total ?? { total: 0 },
  });
  return { rows, page };
}

/** The number of hits; an estimate where more documents fit than are looked at. */
async function totalOf(
  call: Call,
  understood: Understood,
  { way, type }: { way: Width['way']; type?: string[] | undefined },
): Promise<Total> {
  const { db, who } = call;
  const counted = await countUpTo(db, foundItems(call, understood, { cap: CAP, way, types: type }).select('i.id'));
  if (!understood.terms.query || counted.totalIsEstimate || counted.total >= EXACT) return counted;
  return (await isCapped({ db, who }, understood, type)) ? { ...counted, totalIsEstimate: true } : counted;
}

async function isCapped(
  { db, who }: { db: Db; who: Call['who'] },
  understood: Understood,
  types: string[] | undefined,
): Promise<boolean> {
  const ids = candidateIds(scopeOf({ db, who }, understood, types), understood.terms, { cap: CAP, way: 'found' });
  const [row] = await db.queryBuilder().from(ids.as('some')).select<{ n: number }[]>(db.raw('count(*)::int as n'));
  return (row?.n ?? 0) >= CAP;
}

async function included(call: Call, hits: SearchHit[], include: string[] | undefined): Promise<SearchHit[]> {
  if (!include) return hits;
  const items = await withIncludes(
    call,
    hits.flatMap(({ item }) => item ?? []),
    include,
  );
  const found = new Map<string, ListedItem>(items.map((item) => [item.id, item]));
  return hits.map((hit) => ({ ...hit, item: found.get(hit.id) ?? hit.item }));
}

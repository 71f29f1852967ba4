import { createHash } from 'node:crypto';
import { firstIds, listed, listSummaries } from '#areas/items/public.ts';
import { bounded } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { EXACT, estimated } from '#kernel/page.ts';
import type { ImageRef } from '#kernel/schemas.ts';
import { collectionList } from '../items/listing.ts';
import type { CollectionRow } from './collections.store.ts';

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;
type Counted = Pick<CollectionRow, 'id' | 'kind' | 'rules' | 'sort' | 'updated_at'>;

/** What a viewer sees in a collection, in numbers. */
export interface Facts {
  itemCount: number;
  types: { type: string; count: number }[];
  libraryIds: string[];
  years: { from?: number; to?: number };
  runtimeMs: number;
  sizeBytes: number;
  /** Pictures of the first four items. */
  mosaic: ImageRef[];
}

const KEPT_SECONDS = 60;
const AT_ONCE = 4;
const MOSAIC = 4;
/** Items that are looked at for four pictures. */
const LOOKED_AT = 12;

/** Facts of these collections by id, kept for a minute for each viewer; a change of a collection is seen at once. */
export async function factsOf(call: Caller, rows: readonly Counted[]): Promise<Map<string, Facts>> {
  const { redis } = call.deps;
  const found = new Map<string, Facts>();
  if (rows.length === 0) return found;
  const keyOf = keysFor(call);
  const kept = await redis.mget(rows.map(keyOf)).catch(() => []);
  for (const [i, row] of rows.entries()) {
    const text = kept[i];
    if (text) found.set(row.id, JSON.parse(text) as Facts);
  }
  const missing = rows.filter(({ id }) => !found.has(id)).values();
  const lane = async (): Promise<void> => {
    for (const row of missing) {
      const facts = await readFacts(call, row);
      found.set(row.id, facts);
      await redis.set(keyOf(row), JSON.stringify(facts), 'EX', KEPT_SECONDS).catch(() => undefined);
    }
  };
  // a transaction has one connection
  await Promise.all(Array.from({ length: call.db.isTransaction ? 1 : AT_ONCE }, lane));
  return found;
}

/** Keys by viewer, by what the viewer may see, and by the version of the collection. */
function keysFor({ who }: Caller): (row: Counted) => string {
  const sight = createHash('sha256')
    .update(JSON.stringify([who.sees, who.profileId, [...who.permissions]]))
    .digest('base64url')
    .slice(0, 22);
  return ({ id, updated_at: at }) => `collections:facts:${id}:${new Date(at).getTime()}:${sight}`;
}

interface Group {
  type: string;
  library_id: string;
  n: number;
  from_year: number | null;
  to_year: number | null;
  runtime: number;
  size: number;
}

/** Counts the first 10,000 visible items; beyond them the count is the planner's estimate. Throws 400 `query_too_broad`. */
export async function readFacts(call: Caller, row: Counted): Promise<Facts> {
  const list = await collectionList(call, row);
  if (list.listing.shelves?.length === 0) return countsOf([]);
  const all = listed(call, list.listing, list.within);
  const first = all
    .clone()
    .select(
      call.db.raw('coalesce(i.own_type, i.type) as type'),
      'i.library_id',
      'i.year',
      'i.runtime_ms',
      'i.size_bytes',
    )
    .limit(EXACT + 1);
  const groups = await bounded<Group[]>(
    call.db
      .queryBuilder()
      .from(first.as('x'))
      .groupBy('x.type', 'x.library_id')
      .select('x.type', 'x.library_id')
      .select(
        call.db.raw(`count(*)::int as n, min(x.year) as from_year, max(x.year) as to_year,
          coalesce(sum(x.runtime_ms), 0)::bigint as runtime, coalesce(sum(x.size_bytes), 0)::bigint as size`),
      ),
  );
  const facts = { ...countsOf(groups), mosaic: await pictures(call, list) };
  if (facts.itemCount <= EXACT) return facts;
  return { ...facts, itemCount: (await estimated(call.db, all, facts.itemCount)).total };
}

async function pictures(call: Caller, list: Awaited<ReturnType<typeof collectionList>>): Promise<ImageRef[]> {
  const ids = await firstIds(call, list.listing, { ...list, limit: LOOKED_AT });
  const items = await listSummaries(call.db, call.who, ids);
  return items.flatMap(({ artwork }) => artwork.poster ?? artwork.thumb ?? []).slice(0, MOSAIC);
}

function countsOf(groups: readonly Group[]): Facts {
  const sum = (of: (group: Group) => number): number => groups.reduce((all, group) => all + of(group), 0);
  const years = groups.flatMap(({ from_year: from, to_year: to }) => [from, to]).filter((year) => year !== null);
  const byType = Map.groupBy(groups, ({ type }) => type);
  return {
    itemCount: sum(({ n }) => n),
    types: [...byType]
      .map(([type, parts]) => ({ type, count: parts.reduce((all, { n }) => all + n, 0) }))
      .sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1)),
    libraryIds: [...new Set(groups.map(({ library_id: id }) => id))].sort((a, b) => (a < b ? -1 : 1)),
    years: years.length === 0 ? {} : { from: Math.min(...years), to: Math.max(...years) },
    runtimeMs: sum(({ runtime }) => Number(runtime)),
    sizeBytes: sum(({ size }) => Number(size)),
    mosaic: [],
  };
}

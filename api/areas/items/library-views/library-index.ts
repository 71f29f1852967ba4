import type { Knex } from 'knex';
import type { z } from 'zod';
import { bounded } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { conditionsOf } from '#kernel/filter.ts';
import { type SortTerm, scopeOf, writeCursor } from '#kernel/page.ts';
import type { Db } from '#platform/db.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { cached, visibilityClass } from '../listing/cached.ts';
import { type Listing, listed, rulesFor, sortOf } from '../listing/listing.ts';
import { isBeingScanned, type LibraryRow, shelvesOf } from '../listing/shelves.store.ts';
import type { SortName } from '../listing/sorts.ts';
import { orderOfAll, titleSort } from '../listing/title-order.ts';
import type { IndexBucket } from '../listing.schemas.ts';
import { listScope } from '../queries.ts';
import { type Bucket, bucketsOf, type Group, type Initial } from './jump-bar.ts';
import { type Letters, lettersOf } from './letters.ts';

export const indexSorts: readonly SortName[] = ['title', 'addedAt', 'releasedOn', 'year', 'rating', 'takenAt'];

/** SQL that groups a listed row `i`, by sort. */
const groupings: Record<string, string> = {
  addedAt: `extract(year from i.added_at at time zone 'UTC')::int::text`,
  releasedOn: 'extract(year from i.released_on)::int::text',
  year: 'i.year::text',
  rating: 'floor(i.rating)::int::text',
  takenAt: `extract(year from i.taken_at at time zone 'UTC')::int::text`,
};

export interface IndexQuery {
  types: readonly string[];
  sort?: string | undefined;
  filter?: string | undefined;
  marks: number;
}

interface Mark {
  value: string | null;
  id: string;
}

interface Drawn {
  total: number;
  buckets: Bucket[];
  every?: number;
  marks?: Mark[];
}

/** The smallest id: a cursor with it reads every row of its value. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const ON_THE_FLY = 50_000;

export interface LibraryIndex {
  sort: string;
  direction: 'asc' | 'desc';
  total: number;
  buckets: z.output<typeof IndexBucket>[];
  every?: number;
  marks?: string[];
}

/** The cursors in the result are valid for listLibraryItems with the same sort, filter and type. */
export async function libraryIndex(call: Call, library: LibraryRow, options: IndexQuery): Promise<LibraryIndex> {
  await knowCustomFields(call, { texts: [options.filter] });
  const rules = rulesFor(call, options.types, options.filter);
  const { terms, scope } = sortOf(call, {
    scope: listScope(library.id, options.types),
    sort: options.sort,
    fallback: 'title',
    sorts: indexSorts,
    moreSorts: titleSort(call, [library]),
    filter: options.filter,
  });
  const [term] = terms;
  if (!term || terms.length > 1) throw invalid(['query', 'sort'], 'too_big', 'exactly one field');
  const listing: Listing = { types: options.types, shelves: shelvesOf([library], options.types) };
  const letters = lettersOf(orderOfAll(call, [library]).locale);
  const unfiltered = conditionsOf(rules).length === 0;
  const draw = (): Promise<Drawn> =>
    drawn(call, listed(call, listing, rules), { term, letters, marks: options.marks, unfiltered });
  const about = [
    'index',
    library.id,
    library.labels_seq,
    await changesOf(call.db, library),
    letters.locale,
    options.types,
    term.name,
    term.descending,
    options.marks,
    visibilityClass(call),
  ];
  const { total, buckets, every, marks } = unfiltered ? await cached(call, about, draw) : await draw();
  const cursor = (value: string | null, id: string): string =>
    writeCursor(call.deps.keys, scopeOf({ scope, terms }), { values: [value], id });
  return {
    sort: term.name,
    direction: term.descending ? 'desc' : 'asc',
    total,
    buckets: buckets.map(({ first, ...bucket }) => ({ ...bucket, cursor: cursor(first, FIRST_ID) })),
    ...(every && marks ? { every, marks: marks.map((mark) => cursor(mark.value, mark.id)) } : {}),
  };
}

/** The changes that an answer has. A large library takes long to draw: while a scan fills it, an answer serves for its minute. */
async function changesOf(db: Db, { id, item_counts, change_seq }: LibraryRow): Promise<string> {
  const isLarge = Object.values(item_counts).some((count) => count > ON_THE_FLY);
  return isLarge && (await isBeingScanned(db, id)) ? 'scan' : String(change_seq);
}

async function drawn(
  { db }: Call,
  query: Knex.QueryBuilder,
  { term, letters, marks, unfiltered }: { term: SortTerm; letters: Letters; marks: number; unfiltered: boolean },
): Promise<Drawn> {
  const title = term.name === 'title';
  const grouping = title ? `left(i.sort_title, ${letters.length})` : (groupings[term.name] ?? 'null');
  const edge = term.descending ? 'max' : 'min';
  const groups = await bounded<Group[]>(
    query
      .clone()
      .select(db.raw(`${grouping} as key, count(*)::int as count, ${edge}(${term.column})::text as first`))
      .groupByRaw(grouping)
      .orderByRaw(`${edge}(${term.column}) ${term.descending ? 'desc' : 'asc'} nulls last`),
  );
  const total = groups.reduce((sum, group) => sum + group.count, 0);
  const base = { total, buckets: bucketsOf(groups, title ? (start) => letters.initialOf(start) : sameName) };
  if (marks === 0 || total === 0 || (!unfiltered && total > ON_THE_FLY)) return base;
  const every = Math.max(1, Math.ceil(total / marks));
  return { ...base, every, marks: await marksOf(query, term, every) };
}

const sameName = (key: string): Initial => ({ key, label: key });

/** The first item, then the row before every `every`th item. */
async function marksOf(query: Knex.QueryBuilder, term: SortTerm, every: number): Promise<Mark[]> {
  const order = `${term.column} ${term.descending ? 'desc' : 'asc'} nulls last, i.id`;
  const raw = query.client.raw.bind(query.client) as (sql: string) => Knex.Raw;
  const numbered = query
    .clone()
    .select('i.id', raw(`(${term.column})::text as value`), raw(`row_number() over (order by ${order}) as number`));
  const rows = await bounded<(Mark & { number: number })[]>(
    query.client
      .queryBuilder()
      .from(numbered.as('numbered'))
      .whereRaw('number = 1 or number % ? = 0', [every])
      .orderBy('number')
      .select('id', 'value', 'number'),
  );
  const [first] = rows;
  const begin = first?.number === 1 ? [{ value: first.value, id: FIRST_ID }] : [];
  return [...begin, ...rows.filter((row) => row.number % every === 0)].map(({ value, id }) => ({ value, id }));
}

import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { z } from 'zod';
import type { Db } from '#platform/db.ts';
import { type Keys, sign } from '#platform/keys.ts';
import { bounded } from './bounded.ts';
import type { Answer } from './endpoint.ts';
import { invalid, notFound } from './errors.ts';
import { type Key, keyOfRow, rowOf, type Value, type Walk, type WalkedRow, walk } from './keyset.ts';
import { queryInt } from './schemas.ts';
import { printSort, type SortTerm } from './sort.ts';

export { parseSort, type SortField, type SortTable, type SortTerm, sortQuery } from './sort.ts';

export const Page = z
  .object({
    cursor: z.string().nullable().describe('Send back as `cursor`; null at the end'),
    previous: z.string().nullable().optional().describe('Reads backwards, where the list can'),
    hasMore: z.boolean(),
    total: z.int().optional().describe('With the first page; exact up to 10,000').meta({ example: 1 }),
    totalIsEstimate: z.boolean().optional(),
  })
  .meta({ id: 'Page' });
export type Page = z.output<typeof Page>;

/** Answer of a list: `{ items, page }` and what the area adds beside them. */
export function page<S extends z.ZodType, E extends z.ZodRawShape = Record<never, never>>(
  item: S,
  extra?: E,
): Answer<z.ZodObject<{ items: z.ZodArray<S>; page: typeof Page } & E>> {
  const schema = z.object({ items: z.array(item), page: Page, ...extra }) as unknown as z.ZodObject<
    { items: z.ZodArray<S>; page: typeof Page } & E
  >;
  return { kind: 'page', status: 200, schema };
}

const SIGNATURE_BYTES = 16;

/** The query members of every page; areas add `filter`, `include` and their own. */
export const pageQuery = {
  limit: queryInt(1, 200).default(50),
  cursor: z
    .string()
    .max(2000)
    .refine(isCursor, { error: 'not a cursor of this list', params: { code: 'bad_cursor' } })
    .optional(),
};

/** Whether it has a cursor's shape; whose it is, is judged with the sort and the filter. */
function isCursor(text: string): boolean {
  return /^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length > SIGNATURE_BYTES;
}

const Cursor = z.tuple([z.string(), z.array(z.union([z.string(), z.number(), z.null()])), z.guid(), z.boolean()]);

const marks = new Map<string, string>();

/** Signature of a scope, kept: a list's pages all carry the same. */
function markOf(keys: Keys, scope: string): string {
  const name = `${keys.serverId}|${scope}`;
  const known = marks.get(name);
  if (known) return known;
  if (marks.size >= 5000) marks.clear();
  const mark = sign(keys, scope).toString('base64url');
  marks.set(name, mark);
  return mark;
}

/** Opaque, signed, bound to `scope` (the operation, sort, filter and account). */
export function writeCursor(
  keys: Keys,
  scope: string,
  at: { values: Value[]; id: string; backwards?: boolean },
): string {
  const text = JSON.stringify([markOf(keys, scope), at.values, at.id, at.backwards ?? false]);
  return Buffer.concat([sign(keys, text), Buffer.from(text)]).toString('base64url');
}

/** Throws 400 for a cursor of another list, another sort or filter, or of nobody. */
export function readCursor(
  keys: Keys,
  scope: string,
  cursor: string,
): { values: Value[]; id: string; backwards: boolean } {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(SIGNATURE_BYTES).toString('utf8');
  if (bytes.length <= SIGNATURE_BYTES || !timingSafeEqual(bytes.subarray(0, SIGNATURE_BYTES), sign(keys, text))) {
    throw invalid(['query', 'cursor'], 'bad_cursor', 'not a cursor of this list');
  }
  const [mark, values, id, backwards] = Cursor.parse(JSON.parse(text));
  if (mark !== markOf(keys, scope)) {
    throw invalid(['query', 'cursor'], 'bad_cursor', 'the cursor belongs to another sort or filter');
  }
  return { values, id, backwards };
}

export interface PageRequest<Row, Item> {
  keys: Keys;
  terms: readonly SortTerm[];
  cursor: string | undefined;
  limit: number;
  /** Whatever else the list depends on: operation, filter, account. The sort is added here. */
  scope: string;
  /** Column of the tie-breaking id. */
  idColumn: string;
  toItem(row: Row): Item;
  /** Counts up to 10,001; left out, the query itself is counted. */
  total?: (() => Promise<Total>) | undefined;
  /** The page says `previous` too, a cursor that reads backwards; items stay in the sort's order. */
  backwards?: boolean;
  /** Starts with the page that has this id in its middle; 404 when the list does not hold it. */
  around?: string | undefined;
  /** See `Walk.spread`. */
  spread?: Walk['spread'];
}

export interface Total {
  total: number;
  totalIsEstimate?: boolean;
}

interface Found {
  rows: WalkedRow[];
  /** There is more on that side. */
  before: boolean;
  after: boolean;
}

/** Keyset page of `query` (which selects what `toItem` needs, and `id`). Never OFFSET. */
export async function pageOf<Row extends { id: string }, Item>(
  db: Db,
  query: Knex.QueryBuilder,
  ask: PageRequest<Row, Item>,
): Promise<{ items: Item[]; page: Page }> {
  const scope = scopeOf(ask);
  const from = ask.cursor === undefined ? undefined : readCursor(ask.keys, scope, ask.cursor);
  const list: Walk = { db, query, terms: ask.terms, idColumn: ask.idColumn, spread: ask.spread };
  const counting = from ? undefined : (ask.total ?? (() => countUpTo(db, query)));
  const [{ rows, before, after }, total] = await Promise.all([found(list, ask, from), counting?.()]);
  const mark = (row: WalkedRow | undefined, backwards: boolean): string | null =>
    row ? writeCursor(ask.keys, scope, { ...keyOfRow(ask.terms, row), backwards }) : null;
  return {
    items: rows.map((row) => ask.toItem(row as unknown as Row)),
    page: {
      cursor: after ? mark(rows.at(-1), false) : null,
      ...(ask.backwards ? { previous: before ? mark(rows[0], true) : null } : {}),
      hasMore: after,
      ...total,
    },
  };
}

/** What a cursor of this list is bound to. */
export function scopeOf(ask: Pick<PageRequest<never, never>, 'scope' | 'terms'>): string {
  return `${ask.scope}|${printSort(ask.terms)}`;
}

async function found(
  list: Walk,
  ask: { limit: number; around?: string | undefined },
  from: (Key & { backwards: boolean }) | undefined,
): Promise<Found> {
  const { limit } = ask;
  if (!from && ask.around !== undefined) return foundAround(list, { limit, id: ask.around });
  const backwards = from?.backwards ?? false;
  const rows = await walk(list, { from, backwards, limit: limit + 1 });
  const more = rows.length > limit;
  const kept = rows.slice(0, limit);
  if (backwards) return { rows: kept.reverse(), before: more, after: kept.length > 0 };
  return { rows: kept, before: from !== undefined, after: more };
}

async function foundAround(list: Walk, { limit, id }: { limit: number; id: string }): Promise<Found> {
  const itself = await rowOf(list, id);
  if (!itself) throw notFound();
  const here = keyOfRow(list.terms, itself);
  const half = Math.floor((limit - 1) / 2);
  const before = await walk(list, { from: here, backwards: true, limit: half + 1 });
  const kept = before.slice(0, half).reverse();
  const rest = limit - kept.length - 1;
  const after = await walk(list, { from: here, backwards: false, limit: rest + 1 });
  return {
    rows: [...kept, itself, ...after.slice(0, rest)],
    before: before.length > half,
    after: after.length > rest,
  };
}

/** So far totals are exact. */
export const EXACT = 10_000;

/** Exact up to 10,000, the planner's estimate beyond. */
export async function countUpTo(db: Db, query: Knex.QueryBuilder): Promise<Total> {
  const inner = query
    .clone()
    .clearSelect()
    .clearOrder()
    .select(db.raw('1'))
    .limit(EXACT + 1);
  const [row] = await bounded<{ n: number }[]>(db.select(db.raw('count(*) as n')).from(inner.as('counted')));
  const total = Number(row?.n ?? 0);
  return total <= EXACT ? { total } : estimated(db, query, total);
}

/** The planner's estimate of a list that `counted` rows were already found of. */
export async function estimated(db: Db, query: Knex.QueryBuilder, counted: number): Promise<Total> {
  const { sql, bindings } = query.clone().clearSelect().clearOrder().select(db.raw('1')).toSQL();
  const plan = await db.raw<{ rows: { 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }[] }>(
    `explain (format json) ${sql}`,
    bindings as Knex.RawBinding[],
  );
  const estimate = plan.rows[0]?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? counted;
  return { total: Math.max(estimate, counted), totalIsEstimate: true };
}

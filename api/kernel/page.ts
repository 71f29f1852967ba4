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

/** Answer of a list: `{ items, page }` and further members of the area. */
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

/** Query members of every list; areas add `filter`, `include` and others. */
export const pageQuery = {
  limit: queryInt(1, 200).default(50),
  cursor: z
    .string()
    .max(2000)
    .refine(isCursor, { error: 'not a cursor of this list', params: { code: 'bad_cursor' } })
    .optional(),
};

/** Whether the text has the shape of a cursor; its list is checked later with sort and filter. */
function isCursor(text: string): boolean {
  return /^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length > SIGNATURE_BYTES;
}

const Cursor = z.tuple([z.string(), z.array(z.union([z.string(), z.number(), z.null()])), z.guid(), z.boolean()]);

const marks = new Map<string, string>();

/** Signature of a scope, cached because all pages of a list have the same. */
function markOf(keys: Keys, scope: string): string {
  const name = `${keys.serverId}|${scope}`;
  const known = marks.get(name);
  if (known) return known;
  if (marks.size >= 5000) marks.clear();
  const mark = sign(keys, scope).toString('base64url');
  marks.set(name, mark);
  return mark;
}

/** Writes a cursor: opaque, signed and bound to `scope` (operation, sort, filter and account). */
export function writeCursor(
  keys: Keys,
  scope: string,
  at: { values: Value[]; id: string; backwards?: boolean },
): string {
  const text = JSON.stringify([markOf(keys, scope), at.values, at.id, at.backwards ?? false]);
  return Buffer.concat([sign(keys, text), Buffer.from(text)]).toString('base64url');
}

/** Throws 400 for a cursor of another list, sort or filter, and for an invalid one. */
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
  /** Everything that the list depends on except the sort: operation, filter, account. */
  scope: string;
  /** Column of the id, which breaks ties. */
  idColumn: string;
  toItem(row: Row): Item;
  /** Counts up to 10,001; absent counts the query itself. */
  total?: (() => Promise<Total>) | undefined;
  /** The page has `previous` too, a cursor that reads backwards; items stay in the order of the sort. */
  backwards?: boolean;
  /** Starts with the page that has this id in its middle; 404 when the list does not contain it. */
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
  /** There are more rows before the page; `after` likewise. */
  before: boolean;
  after: boolean;
}

/** Keyset page of `query`, which selects the columns of `toItem` and `id`. It never uses OFFSET. */
export async function pageOf<Row extends { id: string }, Item>(
  db: Db,
  query: Knex.QueryBuilder,
  request: PageRequest<Row, Item>,
): Promise<{ items: Item[]; page: Page }> {
  const scope = scopeOf(request);
  const from = request.cursor === undefined ? undefined : readCursor(request.keys, scope, request.cursor);
  const list: Walk = { db, query, terms: request.terms, idColumn: request.idColumn, spread: request.spread };
  const counting = from ? undefined : (request.total ?? (() => countUpTo(db, query)));
  const [{ rows, before, after }, total] = await Promise.all([found(list, request, from), counting?.()]);
  const mark = (row: WalkedRow | undefined, backwards: boolean): string | null =>
    row ? writeCursor(request.keys, scope, { ...keyOfRow(request.terms, row), backwards }) : null;
  return {
    items: rows.map((row) => request.toItem(row as unknown as Row)),
    page: {
      cursor: after ? mark(rows.at(-1), false) : null,
      ...(request.backwards ? { previous: before ? mark(rows[0], true) : null } : {}),
      hasMore: after,
      ...total,
    },
  };
}

/** The scope that a cursor of this list is bound to. */
export function scopeOf(request: Pick<PageRequest<never, never>, 'scope' | 'terms'>): string {
  return `${request.scope}|${printSort(request.terms)}`;
}

async function found(
  list: Walk,
  request: { limit: number; around?: string | undefined },
  from: (Key & { backwards: boolean }) | undefined,
): Promise<Found> {
  const { limit } = request;
  if (!from && request.around !== undefined) return foundAround(list, { limit, id: request.around });
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

/** Totals are exact up to this number. */
export const EXACT = 10_000;

/** Exact total up to 10,000, the estimate of the planner beyond. */
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

/** The estimate of the planner for a list with at least `counted` rows. */
export async function estimated(db: Db, query: Knex.QueryBuilder, counted: number): Promise<Total> {
  const { sql, bindings } = query.clone().clearSelect().clearOrder().select(db.raw('1')).toSQL();
  const plan = await db.raw<{ rows: { 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }[] }>(
    `explain (format json) ${sql}`,
    bindings as Knex.RawBinding[],
  );
  const estimate = plan.rows[0]?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? counted;
  return { total: Math.max(estimate, counted), totalIsEstimate: true };
}

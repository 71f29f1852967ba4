import type { Knex } from 'knex';
import type { Db } from '#platform/db.ts';
import { bounded } from './bounded.ts';
import type { SortTerm } from './sort.ts';

/**
 * Keyset walks. The rows beyond a key are split into segments, each an exact index range of the first field: rows of the
 * same first value, rows with a later one, and, where the field may be null or the order is a circle, the ranges after it.
 * Segments are branches of one statement and run only until the page is full, so row 500,000 costs what row 1 costs.
 */

export type Value = string | number | null;

/** Start of a walk: the sort values of a row as text, and its id. */
export interface Key {
  values: Value[];
  id: string;
}

export interface Walk {
  db: Db;
  /** Selects the columns of the caller and `id`, without order and limit. */
  query: Knex.QueryBuilder;
  terms: readonly SortTerm[];
  /** Column of the id, which breaks ties. */
  idColumn: string;
  /** Runs an ordered and limited query once for each of several index ranges; its rows are named `x`. */
  spread?: ((inner: Knex.QueryBuilder) => Knex.QueryBuilder) | undefined;
}

export interface Stretch {
  /** Exclusive start; absent walks from the end. */
  from?: Key | undefined;
  backwards: boolean;
  limit: number;
}

const INLINE = { skipBinding: true }; // with a parameter the planner would not walk the index

export type WalkedRow = { id: string } & Record<string, unknown>;
type Narrow = (query: Knex.QueryBuilder) => void;

interface Segment {
  narrow: Narrow;
  /** All rows of the segment have a null first value, which is omitted from their order. */
  absent?: boolean;
}

/** Rows in walking order, at most `limit`. */
export async function walk(list: Walk, stretch: Stretch): Promise<WalkedRow[]> {
  const rows = await bounded<(WalkedRow & { segment: number })[]>(walkQuery(list, stretch));
  return rows.sort((a, b) => a.segment - b.segment); // the rows of each branch are ordered already
}

/** The query of `walk`; its rows are to be ordered by `segment`, and keep their order within one. */
export function walkQuery(list: Walk, stretch: Stretch): Knex.QueryBuilder {
  const segments = segmentsOf(list, stretch);
  const branches = segments.map((segment, number) => branch(list, { stretch, segment, number }));
  const [only] = branches;
  if (branches.length === 1 && only) return only;
  return list.db.queryBuilder().unionAll(branches, true).limit(stretch.limit, INLINE);
}

/** Number of rows on that side of the key, counted up to the limit of the stretch. */
export async function countBeyond(list: Walk, stretch: Stretch): Promise<number> {
  const branches = segmentsOf(list, stretch).map(({ narrow }) =>
    list.query
      .clone()
      .clearSelect()
      .select(list.db.raw('1'))
      .where((all) => narrow(all))
      .limit(stretch.limit),
  );
  const all = list.db.queryBuilder().unionAll(branches, true).limit(stretch.limit).as('beyond');
  const [row] = await bounded<{ n: number }[]>(list.db.queryBuilder().select(list.db.raw('count(*) as n')).from(all));
  return row?.n ?? 0;
}

/** One row of the list with its key; undefined when the list does not contain it. */
export async function rowOf(list: Walk, id: string): Promise<WalkedRow | undefined> {
  const query = list.query.clone().whereRaw('?? = ?::uuid', [list.idColumn, id]).limit(1);
  const [row] = await bounded<WalkedRow[]>(selectKeys(list, list.spread ? list.spread(query) : query));
  return row;
}

export function keyOfRow(terms: readonly SortTerm[], row: WalkedRow): Key {
  return { values: terms.map((_term, i) => (row[`sort_${i}`] as Value | undefined) ?? null), id: row.id };
}

/** Selects the keys as text, so that a time keeps its microseconds and a cursor is exact. */
function selectKeys(list: Walk, query: Knex.QueryBuilder): Knex.QueryBuilder {
  for (const [i, term] of list.terms.entries()) {
    query.select(list.db.raw(`(${term.column})::text as ??`, [`sort_${i}`]));
    if (list.spread) query.select(list.db.raw(`${term.column} as ??`, [`key_${i}`]));
  }
  return query;
}

function branch(
  list: Walk,
  { stretch, segment, number }: { stretch: Stretch; segment: Segment; number: number },
): Knex.QueryBuilder {
  const inner = selectKeys(list, list.query.clone());
  inner.select(list.db.raw(`${number} as segment`)).where((all) => segment.narrow(all));
  const skip = segment.absent && list.terms[0]?.absent ? 1 : 0;
  orderBy(inner, list, { backwards: stretch.backwards, skip });
  inner.limit(stretch.limit, INLINE);
  if (!list.spread) return inner;
  const merged = list.spread(inner);
  orderBy(merged, list, { backwards: stretch.backwards, merged: true });
  return merged.limit(stretch.limit, INLINE);
}

interface Order {
  backwards: boolean;
  /** Order rows named `x` by their selected keys. */
  merged?: boolean;
  /** Number of leading fields to omit. */
  skip?: number;
}

function orderBy(query: Knex.QueryBuilder, list: Walk, { backwards, merged = false, skip = 0 }: Order): void {
  for (const [i, term] of list.terms.entries()) {
    if (i >= skip) query.orderByRaw(`${merged ? `x.key_${i}` : term.column} ${direction(term, backwards)}`);
  }
  query.orderByRaw(`?? ${backwards ? 'desc' : 'asc'}`, [merged ? 'x.id' : list.idColumn]);
}

function direction(term: SortTerm, backwards: boolean): string {
  const nulls = term.nullable || term.indexed ? ` nulls ${backwards ? 'first' : 'last'}` : '';
  return `${term.descending !== backwards ? 'desc' : 'asc'}${nulls}`;
}

/** A range of the first field; `holds` tests whether the value of a key is in it. */
interface Range extends Segment {
  holds(value: Value): boolean;
}

function rangesOf(term: SortTerm | undefined): Range[] {
  if (term?.start !== undefined) {
    const { column, type, start } = term;
    const reached = (value: Value): boolean => Number(value) >= start;
    return [
      { holds: reached, narrow: (q) => void q.whereRaw(`${column} >= ?::${type}`, [start]) },
      { holds: (value) => !reached(value), narrow: (q) => void q.whereRaw(`${column} < ?::${type}`, [start]) },
    ];
  }
  if (term?.nullable) {
    return [
      { holds: (value) => value !== null, narrow: (q) => void q.whereRaw(`${term.column} is not null`) },
      { holds: (value) => value === null, narrow: (q) => isAbsent(q, term), absent: true },
    ];
  }
  return [{ holds: () => true, narrow: () => undefined }];
}

function segmentsOf(list: Walk, { from, backwards }: Stretch): Segment[] {
  const ranges = rangesOf(list.terms[0]);
  if (backwards) ranges.reverse();
  if (!from) return ranges;
  const value = from.values[0] ?? null;
  const at = ranges.findIndex((range) => range.holds(value));
  return [...beyondKey(list, { from, backwards, range: ranges[at] }), ...ranges.slice(at + 1)];
}

/** The rows tied with the key in the first field, then those past it within its range. */
function beyondKey(
  list: Walk,
  { from, backwards, range }: { from: Key; backwards: boolean; range: Range | undefined },
): Segment[] {
  const [first, ...rest] = list.terms;
  const value = from.values[0] ?? null;
  const others = { terms: rest, values: from.values.slice(1), id: from.id };
  const tied: Narrow = (query) => {
    if (first) equal(query, first, value);
    after(query, { ...others, idColumn: list.idColumn, backwards });
  };
  if (!first || value === null) return [{ narrow: tied, absent: first !== undefined }];
  const past: Narrow = (query) => {
    range?.narrow(query);
    query.whereRaw(`${first.column} ${sign(first, backwards)} ?::${first.type}`, [value]);
  };
  return [{ narrow: tied }, { narrow: past }];
}

interface After extends Key {
  terms: readonly SortTerm[];
  idColumn: string;
  backwards: boolean;
}

/** Restricts to rows after (values, id) in the order. Nulls are last in either direction, so first when read backwards. */
function after(query: Knex.QueryBuilder, at: After): void {
  query.where((either) => {
    for (let depth = 0; depth <= at.terms.length; depth++) either.orWhere((all) => afterAt(all, at, depth));
  });
}

function afterAt(query: Knex.QueryBuilder, at: After, depth: number): void {
  for (const [i, term] of at.terms.slice(0, depth).entries()) equal(query, term, at.values[i] ?? null);
  const term = at.terms[depth];
  if (term) beyond(query, term, { value: at.values[depth] ?? null, backwards: at.backwards });
  else query.whereRaw(`?? ${at.backwards ? '<' : '>'} ?::uuid`, [at.idColumn, at.id]);
}

function equal(query: Knex.QueryBuilder, term: SortTerm, value: Value): void {
  if (value === null) isAbsent(query, term);
  else query.whereRaw(`${term.column} = ?::${term.type}`, [value]);
}

function isAbsent(query: Knex.QueryBuilder, { column, absent }: SortTerm): void {
  if (absent) query.whereRaw(absent.sql, absent.bindings);
  else query.whereRaw(`${column} is null`);
}

function beyond(
  query: Knex.QueryBuilder,
  term: SortTerm,
  { value, backwards }: { value: Value; backwards: boolean },
): void {
  if (value === null) {
    query.whereRaw(backwards ? `${term.column} is not null` : 'false');
    return;
  }
  const comparison = `${term.column} ${sign(term, backwards)} ?::${term.type}`;
  query.whereRaw(term.nullable && !backwards ? `(${comparison} or ${term.column} is null)` : comparison, [value]);
}

function sign(term: SortTerm, backwards: boolean): '<' | '>' {
  return term.descending !== backwards ? '<' : '>';
}

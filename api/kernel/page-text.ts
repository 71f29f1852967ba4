import type { Knex } from 'knex';
import { type Db, remembered, Slot } from '#platform/db.ts';
import { BROAD_MS, bounded, toldBroad } from './bounded.ts';
import { type Key, type Walk, walkQuery } from './keyset.ts';
import { EXACT, type Page, type PageRequest, readCursor, scopeOf, type Total, writeCursor } from './page.ts';

/** A page that Postgres writes as JSON: the walk, the items, their keys and the count are one statement. */
export interface TextAsk
  extends Pick<PageRequest<never, never>, 'keys' | 'terms' | 'cursor' | 'limit' | 'scope' | 'backwards'> {
  list: () => Walk;
  /** The same without the walk's spread: what is counted. */
  counted: () => Knex.QueryBuilder;
  /** Rows of `items as i` with whatever `text` reads, and the SQL of one item's JSON. */
  written: () => { from: Knex.QueryBuilder; text: string };
  /** Whether the statement counts; it does so up to 10,000. */
  counts: boolean;
  /** The total where the statement did not count, or counted so many that there are more. */
  otherwise: (beside: unknown, counted: number | null) => Promise<Total>;
  /** SQL of one more JSON value, answered beside the page. */
  beside?: (() => Knex.QueryBuilder) | undefined;
  /** Of a walk of an index with no filter in its way: says everything but sort, limit and place that the statement follows from. Absent, it is written at each request and stopped after five seconds. */
  remember?: string | undefined;
}

interface Ends {
  found: number;
  first: [id: string, values: Key['values']] | null;
  last: [id: string, values: Key['values']] | null;
  total: number | null;
}

interface TextRow {
  ends: Ends;
  items: string;
  beside: unknown;
}

type Place = Key & { backwards: boolean };

export interface TextPage {
  /** Of `{ items, page }`. */
  text: string;
  beside: unknown;
  /** With a first page. */
  total: Total | undefined;
}

export async function textPageOf(db: Db, ask: TextAsk): Promise<TextPage> {
  const scope = scopeOf(ask);
  const from = ask.cursor === undefined ? undefined : readCursor(ask.keys, scope, ask.cursor);
  const { ends, items, beside } = await read(db, ask, { from, counts: !from && ask.counts });
  const exact = ends.total !== null && ends.total <= EXACT ? { total: ends.total } : undefined;
  const total = from ? undefined : (exact ?? (await ask.otherwise(beside, ends.total)));
  const page = { ...pageWith(ask, { scope, from, ends }), ...total };
  return { text: `{"items":${items},"page":${JSON.stringify(page)}}`, beside, total };
}

function pageWith(ask: TextAsk, at: { scope: string; from: Place | undefined; ends: Ends }): Page {
  const { found, first, last } = at.ends;
  const backwards = at.from?.backwards ?? false;
  const more = found > ask.limit;
  const before = backwards ? more : at.from !== undefined;
  const after = backwards ? found > 0 : more;
  const mark = (end: Ends['first'], reads: boolean): string | null =>
    end ? writeCursor(ask.keys, at.scope, { id: end[0], values: end[1], backwards: reads }) : null;
  return {
    cursor: after ? mark(backwards ? first : last, false) : null,
    ...(ask.backwards ? { previous: before ? mark(backwards ? last : first, true) : null } : {}),
    hasMore: after,
  };
}

interface Reading {
  from: Place | undefined;
  counts: boolean;
}

async function read(db: Db, ask: TextAsk, reading: Reading): Promise<TextRow> {
  const rows = ask.remember
    ? await toldBroad(kept(db, ask, { ...reading, name: ask.remember }))
    : (await bounded<{ rows: TextRow[] }>(statement(db, ask, reading))).rows;
  const [row] = rows;
  if (!row) throw new Error('a page is one row');
  return row;
}

function kept(db: Db, ask: TextAsk, { from, counts, name }: Reading & { name: string }): Promise<TextRow[]> {
  return remembered<TextRow>(db, {
    key: JSON.stringify([name, scopeOf(ask), ask.limit, counts, shapeOf(ask, from)]),
    build: () => statement(db, ask, { counts, from: from && slotted(from) }),
    slots: from ? { id: from.id, ...Object.fromEntries(from.values.map((value, i) => [`value${i}`, value])) } : {},
    stopAfterMs: BROAD_MS,
    short: true,
  });
}

/** What of a cursor the statement's text follows from: its way, its nulls, and where a circle has come to. */
function shapeOf({ terms }: TextAsk, from: Place | undefined): unknown {
  const start = terms[0]?.start;
  return (
    from && [
      from.backwards,
      from.values.map((value) => value === null),
      start !== undefined && Number(from.values[0]) >= start,
    ]
  );
}

function slotted(from: Place): Place {
  const slot = (name: string, value: unknown): string => new Slot(name, value) as unknown as string;
  const values = from.values.map((value, i) => (value === null ? null : slot(`value${i}`, value)));
  return { ...from, id: slot('id', from.id), values };
}

function statement(db: Db, ask: TextAsk, { from, counts }: Reading): Knex.QueryBuilder {
  const list = ask.list();
  const backwards = from?.backwards ?? false;
  const walked = walkQuery(list, { from, backwards, limit: ask.limit + 1 });
  const key = `json_build_array(id, json_build_array(${list.terms.map((_term, i) => `sort_${i}`).join()}))`;
  const { from: items, text } = ask.written();
  const written = items
    .joinRaw('join placed as w on w.id = i.id')
    .whereRaw(`w.place <= ${ask.limit}`)
    .select(
      db.raw(`coalesce('[' || string_agg(${text}, ',' order by w.place ${backwards ? 'desc' : 'asc'}) || ']', '[]')`),
    );
  const counted = counts
    ? [
        ask
          .counted()
          .clearSelect()
          .select(db.raw('1'))
          .limit(EXACT + 1, { skipBinding: true }),
      ]
    : [];
  return db.raw(
    `with walked as materialized (select w.*, row_number() over () as n from ? as w),
       placed as materialized (select *, row_number() over (order by segment, n) as place from walked)
     select json_build_object('found', (select count(*) from placed), 'first', (select ${key} from placed where place = 1),
         'last', (select ${key} from placed where place = (select least(count(*), ${ask.limit}) from placed)),
         'total', ${counts ? '(select count(*) from ? as counted)' : 'null'}) as ends,
       ? as items, ${ask.beside ? '?' : 'null'} as beside`,
    [walked, ...counted, written, ...(ask.beside ? [ask.beside()] : [])] as unknown as Knex.RawBinding[],
  ) as unknown as Knex.QueryBuilder;
}

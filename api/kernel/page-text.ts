import type { Knex } from 'knex';
import { type Db, remembered, Slot } from '#platform/db.ts';
import { BROAD_MS, bounded, unlessTooBroad } from './bounded.ts';
import { type Key, type Walk, walkQuery } from './keyset.ts';
import { EXACT, type Page, type PageRequest, readCursor, scopeOf, type Total, writeCursor } from './page.ts';

/** A page that Postgres writes as JSON: walk, items, keys and count are one statement. */
export interface TextRequest
  extends Pick<PageRequest<never, never>, 'keys' | 'terms' | 'cursor' | 'limit' | 'scope' | 'backwards'> {
  list: () => Walk;
  /** The query to count, without the spread of the walk. */
  counted: () => Knex.QueryBuilder;
  /** Rows of `items as i` with the columns that `text` reads, and `text`, the SQL of the JSON of one item. */
  written: () => { from: Knex.QueryBuilder; text: string };
  /** Whether the statement counts, up to 10,000. */
  counts: boolean;
  /** The total when the statement did not count, or reached its limit. */
  otherwise: (extra: unknown, counted: number | null) => Promise<Total>;
  /** SQL of one more JSON value, returned with the page. */
  extra?: (() => Knex.QueryBuilder) | undefined;
  /**
   * For an unfiltered walk of an index: a name of everything that the statement depends on except sort, limit and position, under
   * which the statement is cached. Absent, it is built for each request and stopped after five seconds.
   */
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
  extra: unknown;
}

type Place = Key & { backwards: boolean };

export interface TextPage {
  /** JSON of `{ items, page }`. */
  text: string;
  extra: unknown;
  /** Present on a first page. */
  total: Total | undefined;
}

export async function textPageOf(db: Db, request: TextRequest): Promise<TextPage> {
  const scope = scopeOf(request);
  const from = request.cursor === undefined ? undefined : readCursor(request.keys, scope, request.cursor);
  const { ends, items, extra } = await read(db, request, { from, counts: !from && request.counts });
  const exact = ends.total !== null && ends.total <= EXACT ? { total: ends.total } : undefined;
  const total = from ? undefined : (exact ?? (await request.otherwise(extra, ends.total)));
  const page = { ...pageWith(request, { scope, from, ends }), ...total };
  return { text: `{"items":${items},"page":${JSON.stringify(page)}}`, extra, total };
}

function pageWith(request: TextRequest, at: { scope: string; from: Place | undefined; ends: Ends }): Page {
  const { found, first, last } = at.ends;
  const backwards = at.from?.backwards ?? false;
  const more = found > request.limit;
  const before = backwards ? more : at.from !== undefined;
  const after = backwards ? found > 0 : more;
  const mark = (end: Ends['first'], reads: boolean): string | null =>
    end ? writeCursor(request.keys, at.scope, { id: end[0], values: end[1], backwards: reads }) : null;
  return {
    cursor: after ? mark(backwards ? first : last, false) : null,
    ...(request.backwards ? { previous: before ? mark(backwards ? last : first, true) : null } : {}),
    hasMore: after,
  };
}

interface Reading {
  from: Place | undefined;
  counts: boolean;
}

async function read(db: Db, request: TextRequest, reading: Reading): Promise<TextRow> {
  const rows = request.remember
    ? await unlessTooBroad(kept(db, request, { ...reading, name: request.remember }))
    : (await bounded<{ rows: TextRow[] }>(statement(db, request, reading))).rows;
  const [row] = rows;
  if (!row) throw new Error('a page is one row');
  return row;
}

function kept(db: Db, request: TextRequest, { from, counts, name }: Reading & { name: string }): Promise<TextRow[]> {
  return remembered<TextRow>(db, {
    key: JSON.stringify([name, scopeOf(request), request.limit, counts, shapeOf(request, from)]),
    build: () => statement(db, request, { counts, from: from && slotted(from) }),
    slots: from ? { id: from.id, ...Object.fromEntries(from.values.map((value, i) => [`value${i}`, value])) } : {},
    stopAfterMs: BROAD_MS,
    short: true,
  });
}

/** The parts of a cursor that the statement depends on: direction, nulls, and the side of the start in a circular order. */
function shapeOf({ terms }: TextRequest, from: Place | undefined): unknown {
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

function statement(db: Db, request: TextRequest, { from, counts }: Reading): Knex.QueryBuilder {
  const list = request.list();
  const backwards = from?.backwards ?? false;
  const walked = walkQuery(list, { from, backwards, limit: request.limit + 1 });
  const key = `json_build_array(id, json_build_array(${list.terms.map((_term, i) => `sort_${i}`).join()}))`;
  const { from: items, text } = request.written();
  const written = items
    .joinRaw('join placed as w on w.id = i.id')
    .whereRaw(`w.place <= ${request.limit}`)
    .select(
      db.raw(`coalesce('[' || string_agg(${text}, ',' order by w.place ${backwards ? 'desc' : 'asc'}) || ']', '[]')`),
    );
  const counted = counts
    ? [
        request
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
         'last', (select ${key} from placed where place = (select least(count(*), ${request.limit}) from placed)),
         'total', ${counts ? '(select count(*) from ? as counted)' : 'null'}) as ends,
       ? as items, ${request.extra ? '?' : 'null'} as extra`,
    [walked, ...counted, written, ...(request.extra ? [request.extra()] : [])] as unknown as Knex.RawBinding[],
  ) as unknown as Knex.QueryBuilder;
}

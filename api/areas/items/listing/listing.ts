import type { Knex } from 'knex';
import { may } from '#identity/principal.ts';
import { bounded } from '#kernel/bounded.ts';
import type { Call, Deps } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { conditionsOf, parseFilter, type Rules } from '#kernel/filter.ts';
import { applyRules } from '#kernel/filter-sql.ts';
import {
  countUpTo,
  estimated,
  type Page,
  pageOf,
  parseSort,
  readCursor,
  type SortTerm,
  scopeOf,
  type Total,
} from '#kernel/page.ts';
import { textPageOf } from '#kernel/page-text.ts';
import type { SortTable } from '#kernel/sort.ts';
import { fieldsFor, itemFields } from '../fields/fields.ts';
import { visibleItems, withState, withSummaryJoins } from '../item/summaries.store.ts';
import { summarySql } from '../item/summary-sql.ts';
import { onShelves, overShelves, type Shelf } from './shelves.store.ts';
import { type SortName, sortsOf } from './sorts.ts';

/** The items of a list before sort and filter: index ranges of libraries, or the rows that `narrow` keeps. */
export interface Listing {
  shelves?: readonly Shelf[];
  narrow?: (query: Knex.QueryBuilder) => unknown;
  /** Item types of the list. They decide which filter fields exist. */
  types: readonly string[];
}

/** Sort, filter and place of a request. */
export interface ListQuery {
  /** Operation and parameters to which the cursors are bound. */
  scope: string;
  sort?: string | undefined;
  fallback: string;
  sorts: readonly SortName[];
  /** Sorts of this list only; they replace sorts of the same name. */
  moreSorts?: SortTable;
  filter?: string | undefined;
  limit: number;
  cursor?: string | undefined;
  around?: string | undefined;
  backwards?: true | undefined;
  /** The total, when it is known without counting. */
  total?: (() => Total | undefined) | undefined;
}

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** The caller of a list, and the settings that it needs. */
export type Viewer = Pick<Call, 'db' | 'who' | 'now'> & { deps: Pick<Deps, 'settings'> };

/** The items of the listing, as `items as i`, that the caller may see and the rules match. Extras are in no list. */
export function listed(call: Viewer, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = filtered(call, listing, rules);
  if (listing.shelves) onShelves(query, listing.shelves);
  return query;
}

function filtered(call: Viewer, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = visibleItems(call.db, call.who).whereNull('i.extra_of');
  listing.narrow?.(query);
  const zone = call.deps.settings.get('server.timeZone');
  applyRules(query, rules, { fields: itemFields, context: { who: call.who, now: call.now, zone } });
  return query;
}

/** Parses a filter with the fields that the caller may use for these types. */
export function rulesFor(call: Pick<Call, 'who'>, types: readonly string[], filter: string | undefined): Rules {
  return filter ? parseFilter(filter, fieldsFor(call.who, types)) : { all: [] };
}

/** True when the result changes with time, without a change of rows. */
export function isTimeDependent(rules: Rules): boolean {
  return conditionsOf(rules).some((condition) => condition.values.some((value) => value.startsWith('now')));
}

const SORTABLE = 50_000;

/** Ids of a page, in order. */
export async function idsPage(
  call: Caller,
  listing: Listing,
  options: ListQuery,
): Promise<{ items: string[]; page: Page }> {
  const rules = rulesFor(call, listing.types, options.filter);
  const { terms, scope } = sortOf(call, options);
  if (listing.shelves?.length === 0) return { items: [], page: NO_PAGE };
  const flat = listed(call, listing, rules).select('i.id');
  if (!terms[0]?.indexed && listing.shelves) await refuseMany(call, flat);
  return pageOf<{ id: string }, string>(call.db, walked(call, listing, rules), {
    keys: call.deps.keys,
    terms,
    cursor: options.cursor,
    around: options.around,
    limit: options.limit,
    scope,
    idColumn: 'i.id',
    toItem: (row) => row.id,
    total: async () => (conditionsOf(rules).length === 0 && options.total?.()) || countUpTo(call.db, flat),
    ...(options.backwards ? { backwards: true } : {}),
    spread: spreadOf(call, listing),
  });
}

const NO_PAGE: Page = { cursor: null, hasMore: false, total: 0 };

/** The query that a page walks over. With several shelves, the spread adds them. */
function walked(call: Caller, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = spreadOf(call, listing) ? filtered(call, listing, rules) : listed(call, listing, rules);
  return query.select('i.id');
}

function spreadOf({ db }: Caller, { shelves }: Listing): ReturnType<typeof overShelves> {
  return shelves && overShelves(db, shelves);
}

/** A ListQuery for a page that Postgres writes. */
export interface TextQuery extends Omit<ListQuery, 'around' | 'total'> {
  /** The total is known, so the statement need not count. */
  many?: boolean;
  /** The total of a list without conditions, computed from the extra value; undefined counts. */
  totalOf?: ((extra: unknown) => Total | undefined) | undefined;
  extra?: (() => Knex.QueryBuilder) | undefined;
}

/** Text of a page of summaries. The statement is cached when only the position in the list changes. */
export async function pageText(call: Caller, listing: Listing, options: TextQuery): ReturnType<typeof textPageOf> {
  const { db, who } = call;
  const rules = rulesFor(call, listing.types, options.filter);
  const { terms, scope } = sortOf(call, options);
  const flat = (): Knex.QueryBuilder => listed(call, listing, rules).select('i.id');
  const plain = conditionsOf(rules).length === 0;
  const indexed = terms[0]?.indexed ?? false;
  const kept = plain && indexed && !listing.narrow;
  if (!indexed && listing.shelves) await refuseMany(call, flat());
  return textPageOf(db, {
    keys: call.deps.keys,
    terms,
    cursor: options.cursor,
    limit: options.limit,
    scope,
    ...(options.backwards ? { backwards: true } : {}),
    list: () => ({ db, query: walked(call, listing, rules), terms, idColumn: 'i.id', spread: spreadOf(call, listing) }),
    counted: flat,
    counts: !(plain && options.many),
    otherwise: async (extra, counted) =>
      (plain && options.totalOf?.(extra)) ||
      (counted === null ? countUpTo(db, flat()) : estimated(db, flat(), counted)),
    extra: options.extra,
    written: () => ({
      from: withSummaryJoins(withState(db.from('items as i'), who), db, who),
      text: summarySql(may(who, 'item:edit')),
    }),
    remember: kept
      ? JSON.stringify([
          ...[who.sees, who.profileId, may(who, 'item:edit'), listing.shelves, options.extra !== undefined],
          terms.map((term) => term.column), // the language of a library may change
        ])
      : undefined,
  });
}

/**
 * The terms of the sort and the scope of its cursors. A random sort is bound to its day; a cursor of yesterday stays
 * valid.
 */
export function sortOf(
  call: Caller,
  options: Pick<ListQuery, 'scope' | 'sort' | 'fallback' | 'sorts' | 'moreSorts' | 'cursor' | 'filter'>,
): {
  terms: SortTerm[];
  scope: string;
} {
  const bound = `${options.scope}|${options.filter ?? ''}|${call.who.profileId}`;
  const on = (day: string): { terms: SortTerm[]; scope: string } => {
    const table = { ...sortsOf(options.sorts, { day, profileId: call.who.profileId }), ...options.moreSorts };
    const terms = parseSort(options.sort, table, options.fallback);
    const random = terms.some((term) => term.start !== undefined);
    return { terms, scope: random ? `${bound}|${day}` : bound };
  };
  const today = on(dayOf(call));
  if (options.cursor === undefined || !today.terms.some((term) => term.start !== undefined)) return today;
  try {
    readCursor(call.deps.keys, scopeOf(today), options.cursor);
    return today;
  } catch {
    return on(dayBefore(dayOf(call))); // a cursor from before midnight; pageOf rejects an invalid one
  }
}

const days = new Map<string, { minute: number; day: string }>();

/** The caller's calendar day, computed once a minute for each time zone. */
export function dayOf({ now, who }: Pick<Call, 'now' | 'who'>): string {
  const at = now.getTime();
  const minute = Math.floor(at / 60_000);
  const zone = who.timeZone ?? 'UTC';
  const known = days.get(zone);
  if (known?.minute === minute) return known.day;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  formats.set(zone, format);
  const day = format.format(at);
  days.set(zone, { minute, day });
  return day;
}

/** The calendar day before, also where a day has 23 or 25 hours. */
function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}

/** Creating a format takes half a millisecond, so each time zone keeps one. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws 400 when a sort without an index would sort more than 50,000 rows. */
async function refuseMany(call: Pick<Call, 'db'>, query: Knex.QueryBuilder): Promise<void> {
  const capped = query.clone().limit(SORTABLE + 1);
  const [row] = await bounded<{ n: number }[]>(
    call.db.queryBuilder().select(call.db.raw('count(*) as n')).from(capped.as('counted')),
  );
  if ((row?.n ?? 0) > SORTABLE) {
    throw invalid(['query', 'sort'], 'sort_needs_filter', `this sort works on up to ${SORTABLE} items; add a filter`);
  }
}

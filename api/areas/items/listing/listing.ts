import type { Knex } from 'knex';
import { may } from '#identity/principal.ts';
import { bounded } from '#kernel/bounded.ts';
import type { Call, Deps } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { conditionsOf, parseFilter, type Rules } from '#kernel/filter.ts';
import { applyRules } from '#kernel/filter-sql.ts';
import { type Walk, walk } from '#kernel/keyset.ts';
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
import { customFilters, customSorts, knowCustomFields } from '../fields/custom-fields.ts';
import { fieldsFor, itemFields } from '../fields/fields.ts';
import { visibleItems, withState, withSummaryJoins } from '../item/summaries.store.ts';
import { summarySql } from '../item/summary-sql.ts';
import { dayBefore, dayOf } from './day.ts';
import { onShelves, overShelves, type Shelf } from './shelves.store.ts';
import { type SortName, sortsOf } from './sorts.ts';

/** The items of a list before sort and filter. With both `shelves` and `narrow`, an item must be in both. */
export interface Listing {
  /** Types of libraries, each an index range. An empty list has no items; absent is every library. */
  shelves?: readonly Shelf[];
  /** Adds conditions on `items as i`. */
  narrow?: (query: Knex.QueryBuilder) => unknown;
  /** In place of `narrow` for the number of items: the same ones by conditions that need no order. */
  narrowCount?: (query: Knex.QueryBuilder) => unknown;
  /** Item types of the list. They decide which filter fields exist. */
  types: readonly string[];
}

/** Sort, filter and position of a request. */
export interface ListQuery {
  /** Operation and parameters to which the cursors are bound, without sort, filter and profile. */
  scope: string;
  /** As in the request: `-year,title`. */
  sort?: string | undefined;
  /** The sort when the request has none. */
  fallback: string;
  /** Sorts that the operation allows. */
  sorts: readonly SortName[];
  /** Sorts of this list only; they replace sorts of the same name. */
  moreSorts?: SortTable;
  filter?: string | undefined;
  /** Rules of the list itself, which the filter narrows. */
  within?: Rules | undefined;
  limit: number;
  cursor?: string | undefined;
  /** Id of an item: the page that has it in its middle. Throws 404 when the list does not contain it. */
  around?: string | undefined;
  /** The page gets a `previous` cursor too. */
  backwards?: true | undefined;
  /** The total without a filter, when it is known without counting. */
  total?: (() => Total | undefined) | undefined;
}

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** The caller of a list without cursors, and the settings that it needs. */
export type Viewer = Pick<Call, 'db' | 'who' | 'now'> & { deps: Pick<Deps, 'settings'> };

/** The items of the listing, as `items as i`, that the caller may see and the rules match. Extras are in no list. */
export function listed(call: Viewer, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = filtered(call, listing, rules);
  if (listing.shelves) onShelves(query, listing.shelves);
  return query;
}

/** `listed` for a count. */
function counted(call: Viewer, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const { narrowCount = listing.narrow } = listing;
  return listed(call, { ...listing, ...(narrowCount && { narrow: narrowCount }) }, rules).select('i.id');
}

/** `listed` without the shelves. */
function filtered(call: Viewer, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = visibleItems(call.db, call.who).whereNull('i.extra_of');
  listing.narrow?.(query);
  const zone = call.deps.settings.get('server.timeZone');
  const fields = { ...itemFields, ...customFilters(call.who) };
  applyRules(query, rules, { fields, context: { who: call.who, now: call.now, zone } });
  return query;
}

/** Parses a filter with the fields that the caller may use for these types. Throws 400 with every issue. */
export function rulesFor(call: Pick<Call, 'who'>, types: readonly string[], filter: string | undefined): Rules {
  return filter ? parseFilter(filter, fieldsFor(call.who, types)) : { all: [] };
}

/** The rules of the list itself and those of the filter of a request. Throws 400 as `rulesFor`. */
function allRules(
  call: Pick<Call, 'who'>,
  { types }: Listing,
  { within, filter }: Pick<ListQuery, 'within' | 'filter'>,
): Rules {
  const own = rulesFor(call, types, filter);
  if (!within || conditionsOf(within).length === 0) return own;
  return { all: [...('all' in within ? within.all : [within]), ...('all' in own ? own.all : [own])] };
}

/**
 * True when the result may change with time, without a change of rows: a value is a relative date such as `now-30d`. A
 * text that starts with `now` counts too, which only prevents a 304.
 */
export function isTimeDependent(rules: Rules): boolean {
  return conditionsOf(rules).some((condition) => condition.values.some((value) => value.startsWith('now')));
}

/** The most items that a sort without an index may sort: every page sorts all of them. */
const MAX_SORTED = 50_000;

/** Ids of a page, in order. Throws 400 for an invalid sort, filter or cursor, and when the sort needs a filter. */
export async function idsPage(
  call: Caller,
  listing: Listing,
  options: ListQuery,
): Promise<{ items: string[]; page: Page }> {
  await knowCustomFields(call, { sort: options.sort, texts: [options.filter] });
  const rules = allRules(call, listing, options);
  const { terms, scope } = sortOf(call, options);
  if (listing.shelves?.length === 0) return { items: [], page: NO_PAGE };
  const all = counted(call, listing, rules);
  if (!terms[0]?.indexed && listing.shelves) await checkSortable(call, all);
  return pageOf<{ id: string }, string>(call.db, walked(call, listing, rules), {
    keys: call.deps.keys,
    terms,
    cursor: options.cursor,
    around: options.around,
    limit: options.limit,
    scope,
    idColumn: 'i.id',
    toItem: (row) => row.id,
    total: async () => (conditionsOf(rules).length === 0 && options.total?.()) || countUpTo(call.db, all),
    ...(options.backwards ? { backwards: true } : {}),
    spread: spreadOf(call, listing),
  });
}

/** Throws 400 for a filter or a sort that a list of any types does not take. */
export async function checkList(
  call: Caller,
  options: Pick<ListQuery, 'sort' | 'fallback' | 'sorts' | 'filter'>,
): Promise<void> {
  await knowCustomFields(call, { sort: options.sort, texts: [options.filter] });
  rulesFor(call, [], options.filter);
  sortOf(call, { ...options, scope: '' });
}

/** The first ids of a list, without a total. Throws 400 for an invalid sort or filter. */
export async function firstIds(
  call: Caller,
  listing: Listing,
  options: Pick<ListQuery, 'sort' | 'fallback' | 'sorts' | 'moreSorts' | 'filter' | 'within' | 'limit'>,
): Promise<string[]> {
  if (listing.shelves?.length === 0) return [];
  await knowCustomFields(call, { sort: options.sort, texts: [options.filter] });
  const rules = allRules(call, listing, options);
  const { terms } = sortOf(call, { ...options, scope: '' });
  if (!terms[0]?.indexed && listing.shelves) await checkSortable(call, listed(call, listing, rules).select('i.id'));
  const rows = await walk(walkOf(call, listing, { rules, terms }), { backwards: false, limit: options.limit });
  return rows.map(({ id }) => id);
}

/** The walk over a listing. */
export function walkOf(call: Caller, listing: Listing, { rules, terms }: { rules: Rules; terms: SortTerm[] }): Walk {
  return {
    db: call.db,
    query: walked(call, listing, rules),
    terms,
    idColumn: 'i.id',
    spread: spreadOf(call, listing),
  };
}

const NO_PAGE: Page = { cursor: null, hasMore: false, total: 0 };

/** The query that a page walks over: `listed`, but without several shelves, which `spreadOf` adds. */
function walked(call: Caller, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = spreadOf(call, listing) ? filtered(call, listing, rules) : listed(call, listing, rules);
  return query.select('i.id');
}

/** Reads several shelves by one index range each; undefined for one shelf or none. See `Walk.spread`. */
function spreadOf({ db }: Caller, { shelves }: Listing): ReturnType<typeof overShelves> {
  return shelves && overShelves(db, shelves);
}

/** A ListQuery for a page that Postgres writes as JSON. */
export interface TextQuery extends Omit<ListQuery, 'around' | 'total'> {
  /** `totalOf` probably returns the total, so the statement does not count a list without a filter. */
  totalIsKnown?: boolean;
  /** The total of a list without a filter, computed from the value of `extra`; undefined counts. */
  totalOf?: ((extra: unknown) => Total | undefined) | undefined;
  /** SQL of one more JSON value that the same statement reads. */
  extra?: (() => Knex.QueryBuilder) | undefined;
}

/**
 * A page of summaries as JSON text, in one statement. The statement is cached for an unfiltered list in the order of an
 * index, where only the position changes between requests. Errors as in `idsPage`.
 */
export async function pageText(call: Caller, listing: Listing, options: TextQuery): ReturnType<typeof textPageOf> {
  const { db, who } = call;
  await knowCustomFields(call, { sort: options.sort, texts: [options.filter] });
  const rules = allRules(call, listing, options);
  const { terms, scope } = sortOf(call, options);
  const all = (): Knex.QueryBuilder => counted(call, listing, rules);
  const isUnfiltered = conditionsOf(rules).length === 0;
  const isIndexed = terms[0]?.indexed ?? false;
  const isCached = isUnfiltered && isIndexed && !listing.narrow;
  if (!isIndexed && listing.shelves) await checkSortable(call, all());
  return textPageOf(db, {
    keys: call.deps.keys,
    terms,
    cursor: options.cursor,
    limit: options.limit,
    scope,
    ...(options.backwards ? { backwards: true } : {}),
    list: () => walkOf(call, listing, { rules, terms }),
    counted: all,
    counts: !(isUnfiltered && options.totalIsKnown),
    otherwise: async (extra, counted) =>
      (isUnfiltered && options.totalOf?.(extra)) ||
      (counted === null ? countUpTo(db, all()) : estimated(db, all(), counted)),
    extra: options.extra,
    written: () => ({
      from: withSummaryJoins(withState(db.from('items as i'), who), db, who),
      text: summarySql(may(who, 'item:edit')),
    }),
    remember: isCached
      ? JSON.stringify([
          ...[who.sees, who.profileId, may(who, 'item:edit'), listing.shelves, options.extra !== undefined],
          terms.map((term) => term.column), // the language of a library may change
        ])
      : undefined,
  });
}

/**
 * The terms of the sort and the scope of its cursors. A random order lasts for one day of the caller; a cursor of the day
 * before continues the order of that day. Throws 400 for an invalid sort.
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
    const own = options.sort?.includes('custom.') ? customSorts(call.who) : {};
    const table = { ...sortsOf(options.sorts, { day, profileId: call.who.profileId }), ...options.moreSorts, ...own };
    const terms = parseSort(options.sort, table, options.fallback);
    return { terms, scope: isRandom(terms) ? `${bound}|${day}` : bound };
  };
  const today = on(dayOf(call));
  if (options.cursor === undefined || !isRandom(today.terms)) return today;
  try {
    readCursor(call.deps.keys, scopeOf(today), options.cursor);
    return today;
  } catch {
    return on(dayBefore(dayOf(call))); // a cursor from before midnight; pageOf rejects an invalid one
  }
}

/** Only a random order starts within its values, see `shuffle`. */
const isRandom = (terms: readonly SortTerm[]): boolean => terms.some((term) => term.start !== undefined);

/** Throws 400 when `query`, which is sorted without an index, has more than 50,000 rows. */
async function checkSortable(call: Pick<Call, 'db'>, query: Knex.QueryBuilder): Promise<void> {
  const capped = query.clone().limit(MAX_SORTED + 1);
  const [row] = await bounded<{ n: number }[]>(
    call.db.queryBuilder().select(call.db.raw('count(*) as n')).from(capped.as('counted')),
  );
  if ((row?.n ?? 0) > MAX_SORTED) {
    throw invalid(['query', 'sort'], 'sort_needs_filter', `this sort works on up to ${MAX_SORTED} items; add a filter`);
  }
}

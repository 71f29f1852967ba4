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

/** What a list shows before sort and filter: index ranges of libraries, or whatever `narrow` leaves (children of one item). */
export interface Listing {
  shelves?: readonly Shelf[];
  narrow?: (query: Knex.QueryBuilder) => unknown;
  /** Item types listed: they decide which filter fields there are. */
  types: readonly string[];
}

/** Sort, filter and place of one request. */
export interface ListQuery {
  /** Operation and whatever else its cursors are bound to. */
  scope: string;
  sort?: string | undefined;
  fallback: string;
  sorts: readonly SortName[];
  /** Sorts of this list alone, or in place of those of the same name. */
  moreSorts?: SortTable;
  filter?: string | undefined;
  limit: number;
  cursor?: string | undefined;
  around?: string | undefined;
  backwards?: true | undefined;
  /** In place of a count, when it is known. */
  total?: (() => Total | undefined) | undefined;
}

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** Who lists, and by what settings. */
export type Asker = Pick<Call, 'db' | 'who' | 'now'> & { deps: Pick<Deps, 'settings'> };

/** `items as i` of the listing that the caller may see and the rules let through; extras are in no list. */
export function listed(call: Asker, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = filtered(call, listing, rules);
  if (listing.shelves) onShelves(query, listing.shelves);
  return query;
}

function filtered(call: Asker, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = visibleItems(call.db, call.who).whereNull('i.extra_of');
  listing.narrow?.(query);
  const zone = call.deps.settings.get('server.timeZone');
  applyRules(query, rules, { fields: itemFields, context: { who: call.who, now: call.now, zone } });
  return query;
}

/** Filter text against the fields that the caller may use on these types. */
export function rulesFor(call: Pick<Call, 'who'>, types: readonly string[], filter: string | undefined): Rules {
  return filter ? parseFilter(filter, fieldsFor(call.who, types)) : { all: [] };
}

/** True when the rules mean something else later, without any row changing. */
export function moves(rules: Rules): boolean {
  return conditionsOf(rules).some((condition) => condition.values.some((value) => value.startsWith('now')));
}

const SORTABLE = 50_000;

/** Ids of one page, in order. */
export async function idsPage(
  call: Caller,
  listing: Listing,
  ask: ListQuery,
): Promise<{ items: string[]; page: Page }> {
  const rules = rulesFor(call, listing.types, ask.filter);
  const { terms, scope } = sortOf(call, ask);
  if (listing.shelves?.length === 0) return { items: [], page: NO_PAGE };
  const flat = listed(call, listing, rules).select('i.id');
  if (!terms[0]?.indexed && listing.shelves) await refuseMany(call, flat);
  return pageOf<{ id: string }, string>(call.db, walked(call, listing, rules), {
    keys: call.deps.keys,
    terms,
    cursor: ask.cursor,
    around: ask.around,
    limit: ask.limit,
    scope,
    idColumn: 'i.id',
    toItem: (row) => row.id,
    total: async () => (conditionsOf(rules).length === 0 && ask.total?.()) || countUpTo(call.db, flat),
    ...(ask.backwards ? { backwards: true } : {}),
    spread: spreadOf(call, listing),
  });
}

const NO_PAGE: Page = { cursor: null, hasMore: false, total: 0 };

/** What a walk goes over: the shelves are added by its spread, where there are several. */
function walked(call: Caller, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = spreadOf(call, listing) ? filtered(call, listing, rules) : listed(call, listing, rules);
  return query.select('i.id');
}

function spreadOf({ db }: Caller, { shelves }: Listing): ReturnType<typeof overShelves> {
  return shelves && overShelves(db, shelves);
}

/** What a page written by Postgres is asked beside a ListQuery. */
export interface TextQuery extends Omit<ListQuery, 'around' | 'total'> {
  /** True when the total is known otherwise: the statement need not count. */
  many?: boolean;
  /** The total of a list without conditions, of what `beside` found; undefined counts. */
  totalOf?: ((beside: unknown) => Total | undefined) | undefined;
  beside?: (() => Knex.QueryBuilder) | undefined;
}

/** Text of one page of summaries; the statement is kept where only the place in it changes. */
export async function pageText(call: Caller, listing: Listing, ask: TextQuery): ReturnType<typeof textPageOf> {
  const { db, who } = call;
  const rules = rulesFor(call, listing.types, ask.filter);
  const { terms, scope } = sortOf(call, ask);
  const flat = (): Knex.QueryBuilder => listed(call, listing, rules).select('i.id');
  const plain = conditionsOf(rules).length === 0;
  const indexed = terms[0]?.indexed ?? false;
  const kept = plain && indexed && !listing.narrow;
  if (!indexed && listing.shelves) await refuseMany(call, flat());
  return textPageOf(db, {
    keys: call.deps.keys,
    terms,
    cursor: ask.cursor,
    limit: ask.limit,
    scope,
    ...(ask.backwards ? { backwards: true } : {}),
    list: () => ({ db, query: walked(call, listing, rules), terms, idColumn: 'i.id', spread: spreadOf(call, listing) }),
    counted: flat,
    counts: !(plain && ask.many),
    otherwise: async (beside, counted) =>
      (plain && ask.totalOf?.(beside)) || (counted === null ? countUpTo(db, flat()) : estimated(db, flat(), counted)),
    extra: ask.beside,
    written: () => ({
      from: withSummaryJoins(withState(db.from('items as i'), who), db, who),
      text: summarySql(may(who, 'item:edit')),
    }),
    remember: kept
      ? JSON.stringify([
          ...[who.sees, who.profileId, may(who, 'item:edit'), listing.shelves, ask.beside !== undefined],
          terms.map((term) => term.column), // a library's language may change
        ])
      : undefined,
  });
}

/** The sort's terms and what cursors are bound to: a day's shuffle is bound to its day, and one of yesterday still reads on. */
export function sortOf(
  call: Caller,
  ask: Pick<ListQuery, 'scope' | 'sort' | 'fallback' | 'sorts' | 'moreSorts' | 'cursor' | 'filter'>,
): {
  terms: SortTerm[];
  scope: string;
} {
  const bound = `${ask.scope}|${ask.filter ?? ''}|${call.who.profileId}`;
  const on = (day: string): { terms: SortTerm[]; scope: string } => {
    const table = { ...sortsOf(ask.sorts, { day, profileId: call.who.profileId }), ...ask.moreSorts };
    const terms = parseSort(ask.sort, table, ask.fallback);
    const random = terms.some((term) => term.start !== undefined);
    return { terms, scope: random ? `${bound}|${day}` : bound };
  };
  const today = on(dayOf(call));
  if (ask.cursor === undefined || !today.terms.some((term) => term.start !== undefined)) return today;
  try {
    readCursor(call.deps.keys, scopeOf(today), ask.cursor);
    return today;
  } catch {
    return on(dayOf(call, -86_400_000)); // read from before midnight; a wrong cursor is told by the page
  }
}

const days = new Map<string, { minute: number; day: string }>();

/** The caller's calendar day; a zone's is asked once a minute. */
export function dayOf({ now, who }: Pick<Call, 'now' | 'who'>, offsetMs = 0): string {
  const at = now.getTime() + offsetMs;
  const minute = Math.floor(at / 60_000);
  const zone = who.timeZone ?? 'UTC';
  const known = days.get(zone);
  if (known?.minute === minute) return known.day;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  formats.set(zone, format);
  const day = format.format(at);
  if (offsetMs === 0) days.set(zone, { minute, day });
  return day;
}

/** Making one costs half a millisecond; there are as many as time zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** A sort without an index is done on what the filter leaves, up to 50,000 rows. */
async function refuseMany(call: Pick<Call, 'db'>, query: Knex.QueryBuilder): Promise<void> {
  const capped = query.clone().limit(SORTABLE + 1);
  const [row] = await bounded<{ n: number }[]>(
    call.db.queryBuilder().select(call.db.raw('count(*) as n')).from(capped.as('counted')),
  );
  if ((row?.n ?? 0) > SORTABLE) {
    throw invalid(['query', 'sort'], 'sort_needs_filter', `this sort works on up to ${SORTABLE} items; add a filter`);
  }
}

import type { Knex } from 'knex';
import { bounded } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { conditionsOf, parseFilter, type Rules } from '#kernel/filter.ts';
import { applyRules } from '#kernel/filter-sql.ts';
import {
  countUpTo,
  type Page,
  pageOf,
  parseSort,
  readCursor,
  type SortTerm,
  scopeOf,
  type Total,
} from '#kernel/page.ts';
import type { SortTable } from '#kernel/sort.ts';
import { fieldsFor, itemFields } from './fields.ts';
import { onShelves, overShelves, type Shelf } from './shelves.store.ts';
import { type SortName, sortsOf } from './sorts.ts';
import { visibleItems } from './summaries.store.ts';

/** What a list shows before sort and filter: index ranges of libraries, or whatever `narrow` leaves (children of one item). */
export interface Listing {
  shelves?: readonly Shelf[];
  narrow?: (query: Knex.QueryBuilder) => unknown;
  /** Item types listed: they decide which filter fields there are. */
  types: readonly string[];
}

/** Sort, filter and place of one request. */
export interface ListAsk {
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
  total?: (() => Promise<Total | undefined>) | undefined;
}

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** `items as i` of the listing that the caller may see and the rules let through; extras are in no list. */
export function listed(call: Pick<Call, 'db' | 'who' | 'now'>, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = filtered(call, listing, rules);
  if (listing.shelves) onShelves(query, listing.shelves);
  return query;
}

function filtered(call: Pick<Call, 'db' | 'who' | 'now'>, listing: Listing, rules: Rules): Knex.QueryBuilder {
  const query = visibleItems(call.db, call.who).whereNull('i.extra_of');
  listing.narrow?.(query);
  applyRules(query, rules, { fields: itemFields, context: { who: call.who, now: call.now } });
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
export async function idsPage(call: Caller, listing: Listing, ask: ListAsk): Promise<{ items: string[]; page: Page }> {
  const rules = rulesFor(call, listing.types, ask.filter);
  const { terms, scope } = sortOf(call, ask);
  if (listing.shelves?.length === 0) return { items: [], page: { cursor: null, hasMore: false, total: 0 } };
  const flat = listed(call, listing, rules).select('i.id');
  if (!terms[0]?.indexed && listing.shelves) await refuseMany(call, flat);
  const spread = listing.shelves && overShelves(call.db, listing.shelves);
  const query = spread ? filtered(call, listing, rules).select('i.id') : flat;
  return pageOf<{ id: string }, string>(call.db, query, {
    keys: call.deps.keys,
    terms,
    cursor: ask.cursor,
    around: ask.around,
    limit: ask.limit,
    scope,
    idColumn: 'i.id',
    toItem: ({ id }) => id,
    total: async () => (conditionsOf(rules).length === 0 && (await ask.total?.())) || countUpTo(call.db, flat),
    ...(ask.backwards ? { backwards: true } : {}),
    spread,
  });
}

/** The sort's terms and what cursors are bound to: a day's shuffle is bound to its day, and one of yesterday still reads on. */
export function sortOf(
  call: Caller,
  ask: Pick<ListAsk, 'scope' | 'sort' | 'fallback' | 'sorts' | 'moreSorts' | 'cursor' | 'filter'>,
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

/** The caller's calendar day. */
export function dayOf({ now, who }: Pick<Call, 'now' | 'who'>, offsetMs = 0): string {
  const at = new Date(now.getTime() + offsetMs);
  const zone = who.timeZone ?? 'UTC';
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  formats.set(zone, format);
  return format.format(at);
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

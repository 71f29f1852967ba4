import type { Call } from '#kernel/endpoint.ts';
import { ApiError, type Issue, invalidAll } from '#kernel/errors.ts';
import { conditionsOf, parseRules, type Rules } from '#kernel/filter.ts';
import { type Ignored, readKept } from '#kernel/filter-kept.ts';
import { walk } from '#kernel/keyset.ts';
import type { SortTable } from '#kernel/sort.ts';
import type { Db } from '#platform/db.ts';
import { everyCustomFilter, knowCustomFields } from '../fields/custom-fields.ts';
import { fieldsFor, itemFields } from '../fields/fields.ts';
import { heldTypesOf } from '../kinds.ts';
import { type Listing, sortOf, walkOf } from '../listing/listing.ts';
import { serverSorts } from '../listing/server-list.ts';
import {
  type LibraryRow,
  listVisibleLibraries,
  type Shelf,
  shelvesOf,
  shownShelvesOf,
} from '../listing/shelves.store.ts';
import { titleSort } from '../listing/title-order.ts';
import type { SmartRules } from './smart.schemas.ts';

/** Lists that make themselves: rules become the same listing and the same conditions as a filter string. */

type Caller = Pick<Call, 'db' | 'who' | 'now' | 'deps'>;

/** Most items that a limit by time or size keeps. */
const MOST = 10_000;

export interface SmartList {
  listing: Listing;
  rules: Rules;
  /** The order of the rules. */
  sort: string;
  moreSorts: SortTable;
  /** Conditions of fields and values that are gone. */
  ignored: Ignored[];
}

/** Throws one 400 with every issue of the rules, at `path`. */
export async function checkSmartRules(call: Caller, rules: SmartRules, path: (string | number)[]): Promise<void> {
  const issues = await smartFaults(call, rules, path);
  if (issues.length > 0) throw invalidAll(issues);
}

/** Every issue of rules that are to be kept. */
export async function smartFaults(call: Caller, rules: SmartRules, path: (string | number)[]): Promise<Issue[]> {
  await knowCustomFields(call, { texts: [JSON.stringify(rules)] });
  const match = await issuesOf(() => void parseRules(rules.match, fieldsFor(call.who, []), [...path, 'match']));
  const sort = await issuesOf(async () => {
    await knowCustomFields(call, { sort: rules.sort });
    sortOf(call, { sort: rules.sort, fallback: 'title', sorts: serverSorts, scope: '' });
  });
  return [...match, ...sort.map((issue) => ({ ...issue, path: [...path, 'sort'] }))];
}

async function issuesOf(check: () => void | Promise<void>): Promise<Issue[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'VALIDATION_FAILED')
      return (error.details as { issues: Issue[] }).issues;
    throw error;
  }
}

/** The same error with its issues at another path. */
export function atPath(error: unknown, path: (string | number)[]): unknown {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_FAILED') return error;
  const { issues } = error.details as { issues: Issue[] };
  return invalidAll(issues.map((issue) => ({ ...issue, path })));
}

/** What kept rules list for this caller, with the caller's own rights and state. */
export async function smartList(call: Caller, smart: SmartRules): Promise<SmartList> {
  await knowCustomFields(call, { texts: [JSON.stringify(smart)] });
  const fields = fieldsFor(call.who, []);
  const { rules, ignored } = readKept(smart.match, { fields, all: { ...itemFields, ...everyCustomFilter() } });
  const wanted = smart.libraryIds.length > 0 ? smart.libraryIds : undefined;
  const libraries = await listVisibleLibraries(call.db, call.who, wanted);
  const shelves = shelvesFor(libraries, smart, rules);
  const list: SmartList = {
    listing: { types: [], shelves },
    rules,
    sort: knownSort(call, smart.sort),
    moreSorts: titleSort(call, libraries),
    ignored,
  };
  return smart.limit && shelves.length > 0 ? limited(call, list, smart.limit) : list;
}

/** The types of the rules; without any those that each library lists, or every one when a condition chooses them. */
function shelvesFor(libraries: readonly LibraryRow[], { types }: SmartRules, rules: Rules): Shelf[] {
  if (types.length > 0) return shownShelvesOf(libraries, types);
  const chosen = conditionsOf(rules).some(({ field }) => field === 'type');
  return libraries.flatMap((library) => shelvesOf([library], chosen ? heldTypesOf(library) : undefined));
}

/** The sort, or by title when its field is gone. */
function knownSort(call: Caller, sort: string): string {
  try {
    sortOf(call, { sort, fallback: 'title', sorts: serverSorts, scope: '' });
    return sort;
  } catch (error) {
    if (error instanceof ApiError) return 'title';
    throw error;
  }
}

/** The list cut to its limit, which is counted in the order of the rules. */
async function limited(call: Caller, list: SmartList, limit: NonNullable<SmartRules['limit']>): Promise<SmartList> {
  const { terms } = sortOf(call, { ...list, fallback: list.sort, sorts: serverSorts, scope: '' });
  const most = 'items' in limit ? limit.items : MOST;
  const rows = await walk(walkOf(call, list.listing, { rules: list.rules, terms }), { backwards: false, limit: most });
  const ids = await within(
    call.db,
    rows.map(({ id }) => id),
    limit,
  );
  const narrow: Listing['narrow'] = (query) => query.whereRaw('i.id = any(?::uuid[])', [ids]);
  return { ...list, listing: { types: [], narrow }, rules: { all: [] } };
}

/** The first ids whose length or size together is within the limit. */
async function within(db: Db, ids: readonly string[], limit: NonNullable<SmartRules['limit']>): Promise<string[]> {
  if ('items' in limit) return [...ids];
  const rows = await db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select('id', 'runtime_ms', 'size_bytes');
  const most = 'durationMs' in limit ? limit.durationMs : limit.sizeBytes;
  const amounts = new Map(rows.map((row) => [row.id, 'durationMs' in limit ? row.runtime_ms : row.size_bytes]));
  let sum = 0;
  const end = ids.findIndex((id) => {
    sum += amounts.get(id) ?? 0;
    return sum > most;
  });
  return end < 0 ? [...ids] : ids.slice(0, end);
}

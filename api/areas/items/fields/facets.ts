import type { Knex } from 'knex';
import type { z } from 'zod';
import { bounded } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalidAll } from '#kernel/errors.ts';
import { conditionsOf, type Rules, withoutField } from '#kernel/filter.ts';
import { countUpTo, type Total } from '#kernel/page.ts';
import { sharesPlace } from '../item/items.store.ts';
import { cached, visibilityClass } from '../listing/cached.ts';
import { type Listing, listed, rulesFor } from '../listing/listing.ts';
import { type LibraryRow, shelvesOf } from '../listing/shelves.store.ts';
import type { Facet as FacetSchema } from '../listing.schemas.ts';
import { customFacet, knowCustomFields } from './custom-fields.ts';
import { countedBy, type FacetSource } from './facet-sources.ts';
import { fieldsFor, itemFields } from './fields.ts';

type Facet = z.output<typeof FacetSchema>;

export interface FacetQuery {
  fields: readonly string[];
  types: readonly string[];
  filter?: string | undefined;
  q?: string | undefined;
  top: number;
}

export type Facets = Total & { facets: Facet[] };

/** Counts each facet with all conditions except its own, so that its other values remain selectable. */
export async function libraryFacets(call: Call, library: LibraryRow, options: FacetQuery): Promise<Facets> {
  await knowCustomFields(call, { texts: [options.filter, ...options.fields] });
  const offered = fieldsFor(call.who, options.types);
  const isCounted = (name: string): boolean => (countedBy[name] ?? customFacet(call.who, name)) !== undefined;
  const places = sharesPlace(call.who, library.settings);
  const unknown = options.fields.filter(
    (name) => !offered[name]?.facet || !isCounted(name) || (name.startsWith('place_') && !places),
  );
  if (unknown.length > 0) {
    throw invalidAll(
      unknown.map((name) => ({
        path: ['query', 'fields'],
        code: 'unknown_field',
        message: `${name} is not a facet of this library`,
      })),
    );
  }
  const rules = rulesFor(call, options.types, options.filter);
  const listing: Listing = { types: options.types, shelves: shelvesOf([library], options.types) };
  const count = async (): Promise<Facets> => {
    const total = await countUpTo(call.db, listed(call, listing, rules));
    const facets: Facet[] = [];
    for (const field of options.fields) facets.push(await facetOf(call, { listing, rules, options, field }));
    return { ...total, facets };
  };
  const personal = conditionsOf(rules).some((condition) => itemFields[condition.field]?.mine);
  if (personal) return count();
  return cached(
    call,
    ['facets', library.id, library.labels_seq, visibilityClass(call), options, call.who.permissions.has('item:edit')],
    count,
  );
}

/** Above this number of items, facets are counted on an even sample. */
const COUNTED = 50_000;

interface Counting {
  listing: Listing;
  rules: Rules;
  options: FacetQuery;
  field: string;
}

async function facetOf(call: Call, { listing, rules, options, field }: Counting): Promise<Facet> {
  const source = (countedBy[field] ?? customFacet(call.who, field)) as FacetSource;
  const matching = (): Knex.QueryBuilder => listed(call, listing, withoutField(rules, field));
  const share = await shareToCount(call, matching());
  const query = matching();
  if (share < 1) query.where('i.shuffle_3', '<', share);
  source.join?.(query, call.who);
  query
    .select(call.db.raw(`${source.value} as value, min(${source.label ?? source.value}) as label`))
    .select(call.db.raw('count(*)::int as count'))
    .whereRaw(`${source.value} is not null`)
    .groupByRaw(source.value);
  if (options.q !== undefined) {
    query.whereRaw(`foyer_fold(${source.label ?? source.value}) like foyer_fold(?)`, [
      `%${options.q.replace(/[\\%_]/g, '\\$&')}%`,
    ]);
  }
  const rows = await bounded<{ value: string; label: string; count: number }[]>(
    query.orderByRaw(source.measured ? '1 desc' : 'count desc, 1').limit(options.top + 1),
  );
  const chosen = chosenValues(rules, field);
  return {
    field,
    values: rows.slice(0, options.top).map(({ value, label, count }) => ({
      value: String(value),
      label: String(label),
      count: share < 1 ? Math.round(count / share) : count,
      selected: chosen.has(String(value).toLowerCase()) || chosen.has(String(label).toLowerCase()),
    })),
    more: rows.length > options.top,
    ...(source.measured ? edges(rows.map((row) => Number(row.value))) : {}),
    ...(share < 1 ? { isEstimate: true } : {}),
  };
}

function edges(values: readonly number[]): { min?: number; max?: number } {
  return values.length > 0 ? { min: Math.min(...values), max: Math.max(...values) } : {};
}

function chosenValues(rules: Rules, field: string): Set<string> {
  const own = conditionsOf(rules).filter((one) => one.field === field && (one.op === 'eq' || one.op === 'in'));
  return new Set(own.flatMap((one) => one.values.map((value) => value.toLowerCase())));
}

/** 1 for few matches, else the share of the stored shuffle that holds about COUNTED items. */
async function shareToCount(call: Call, query: Knex.QueryBuilder): Promise<number> {
  const capped = query
    .clone()
    .select(call.db.raw('1'))
    .limit(COUNTED + 1);
  const [row] = await bounded<{ n: number }[]>(
    call.db.queryBuilder().select(call.db.raw('count(*) as n')).from(capped.as('capped')),
  );
  if ((row?.n ?? 0) <= COUNTED) return 1;
  const { total } = await countUpTo(call.db, query);
  return Math.min(1, COUNTED / Math.max(total, COUNTED));
}

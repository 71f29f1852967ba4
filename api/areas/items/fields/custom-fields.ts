import type { Knex } from 'knex';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { calendarDay, flag, folded, related, scalar, type Where } from '#kernel/filter-sql.ts';
import type { SortField, SortTable } from '#kernel/sort.ts';
import { type Definition, listDefinitions } from './custom-fields.view.ts';
import type { FacetSource } from './facet-sources.ts';
import type { FilterContext, ItemField, ItemWhere } from './field-sql.ts';

/** Filters, sorts and facets of the fields that an admin added, by their names `custom.<key>`. */

const PREFIX = 'custom.';

/** The definitions that requests of this process read last; see `knowCustomFields`. */
const known = new Map<string, Definition>();

/**
 * Reads the definitions before one of the texts names a custom field. Definitions change seldom, but a request must see those of
 * its own time, so they are read again each time.
 */
export async function knowCustomFields(
  { db, who }: Pick<Call, 'db' | 'who'>,
  { sort, texts = [] }: { sort?: string | undefined; texts?: readonly (string | undefined)[] },
): Promise<void> {
  if (![sort, ...texts].some((text) => text?.includes(PREFIX))) return;
  const all = await listDefinitions(db);
  known.clear();
  for (const one of all) known.set(PREFIX + one.key, one);
  for (const name of sort?.split(',') ?? []) refuseUnready(who, name.replace(/^-/, ''));
}

function refuseUnready(who: Principal, name: string): void {
  const field = known.get(name);
  if (!field?.in_sort || !isFor(who, field) || field.index_state === 'ready') return;
  throw invalid(['query', 'sort'], 'index_building', `${name} can be sorted by once its index is ready`);
}

/** Fields for editors do not exist for others. */
export const isFor = (who: Principal, { audience }: Definition): boolean =>
  audience === 'everyone' || may(who, 'item:edit');

const mine = (who: Principal): [string, Definition][] => [...known].filter(([, field]) => isFor(who, field));

/** The filter fields that the caller may use. */
export function customFilters(who: Principal): Record<string, ItemField> {
  const usable = mine(who).filter(([, field]) => field.in_filter || field.in_facets);
  return Object.fromEntries(usable.map(([name, field]) => [name, filterOf(field)]));
}

/** Every filter field of this kind, also those that only editors may use. */
export function everyCustomFilter(): Record<string, ItemField> {
  return Object.fromEntries([...known].map(([name, field]) => [name, filterOf(field)]));
}

/** Whether items of this shown type and library have the field. */
export const hasField = (
  { item_types: types, library_ids: ids }: Definition,
  type: string,
  libraryId: string,
): boolean => types.includes(type) && (ids === null || ids.includes(libraryId));

type Kind = Definition['kind'];

const filterKinds: Readonly<Record<Kind, ItemField['kind']>> = {
  ...{ text: 'text', 'long-text': 'text', url: 'text', choice: 'enum', choices: 'enum', boolean: 'boolean' },
  ...{ number: 'number', rating: 'number', duration: 'duration', date: 'date', person: 'tag', item: 'tag' },
};

const references = { operators: ['eq', 'ne', 'in', 'nin', 'exists'] } as const;

function filterOf(field: Definition): ItemField {
  const { kind, label, options } = field;
  const choices = kind === 'choice' || kind === 'choices';
  return {
    kind: filterKinds[kind],
    label,
    ...(choices && { values: options.map(({ value }) => value) }),
    ...(filterKinds[kind] === 'tag' && references),
    ...(!field.in_filter && { operators: [] }),
    ...(field.in_sort && { sort: PREFIX + field.key }),
    ...(field.in_facets && isCounted(kind) && { facet: true as const }),
    where: onValue(field, matches[kind]),
  };
}

/** Values whose item `v.ref_id` the caller may see. */
function withVisibleItem(query: Knex.QueryBuilder, who: Principal): void {
  query.whereExists((target) => {
    target
      .select(target.client.raw('1'))
      .from('items as k')
      .whereRaw('k.id = v.ref_id')
      .modify(onlyVisibleItems, who, 'k');
  });
}

/** Values whose person `v.ref_id` is in a visible item, or in none at all. */
export function withVisiblePerson(query: Knex.QueryBuilder, who: Principal): void {
  query.where((either: Knex.QueryBuilder) => {
    either
      .whereRaw('not exists (select 1 from credits c where c.person_id = v.ref_id)')
      .orWhereExists((shown: Knex.QueryBuilder) => {
        shown
          .select(shown.client.raw('1'))
          .from('credits as c')
          .join('items as k', 'k.id', 'c.item_id')
          .whereRaw('c.person_id = v.ref_id')
          .modify(onlyVisibleItems, who, 'k');
      });
  });
}

/** Matches items with a value for which `match` is true of `v`, where they have the field. */
function onValue(field: Definition, match: ItemWhere): ItemWhere {
  const rows = (query: Knex.QueryBuilder, { who }: FilterContext): void => {
    query.from('custom_values as v').whereRaw('v.item_id = i.id and v.field_id = ?', [field.id]);
    query.whereRaw('coalesce(i.own_type, i.type) = any(?::text[])', [field.item_types]);
    if (field.library_ids) query.whereRaw('i.library_id = any(?::uuid[])', [field.library_ids]);
    if (field.kind === 'item') query.modify(withVisibleItem, who);
    else if (field.kind === 'person') query.modify(withVisiblePerson, who);
  };
  return related(rows, match);
}

/** Whole texts are compared by their indexed beginning; a part is looked for in the whole. */
const texts: ItemWhere = (query, condition, context) => {
  const sql = condition.op === 'contains' ? 'foyer_fold(v.text_value)' : 'v.text_key';
  folded<FilterContext>(sql)(query, condition, context);
};
/** The folded text is the indexed one; options that differ only in case stay apart. */
const option: ItemWhere = (query, condition, context) => {
  folded<FilterContext>('v.text_key')(query, condition, context);
  scalar<FilterContext>('v.text_value', 'text')(query, condition, context);
};
const amount: Where<FilterContext> = scalar('v.number_value', 'double precision');
const reference: ItemWhere = (query, condition) => {
  query.whereRaw('v.ref_id::text = any(?::text[])', [condition.values.map((value) => value.toLowerCase())]);
};

const matches: Readonly<Record<Kind, ItemWhere>> = {
  ...{ text: texts, 'long-text': texts, url: texts, choice: option, choices: option },
  ...{ number: amount, rating: amount, duration: amount, boolean: flag('v.bool_value') },
  ...{ date: calendarDay<FilterContext>('v.date_value'), person: reference, item: reference },
};

const sortColumns: Partial<Record<Kind, readonly [column: string, type: SortField['type']]>> = {
  ...{ text: ['text_key', 'text'], url: ['text_key', 'text'], choice: ['text_key', 'text'] },
  ...{ number: ['number_value', 'double precision'], rating: ['number_value', 'double precision'] },
  ...{ duration: ['number_value', 'double precision'], date: ['date_value', 'date'] },
};

/** Sorts by custom fields that are ready; lists of more than 50,000 items refuse them without a filter. */
export function customSorts(who: Principal): SortTable {
  const sorts = mine(who).flatMap(([name, field]): [string, SortField][] => {
    const [column, type] = sortColumns[field.kind] ?? [];
    if (!field.in_sort || field.index_state !== 'ready' || !column || !type) return [];
    const value = `(select v.${column} from custom_values v where v.field_id = '${field.id}' and v.item_id = i.id and v.place = 0)`;
    return [[name, { column: value, type, nullable: true }]];
  });
  return Object.fromEntries(sorts);
}

export const isSortable = (field: Definition): boolean => field.in_sort && sortColumns[field.kind] !== undefined;

const counted: Partial<Record<Kind, string>> = {
  ...{ text: 'v.text_value', choice: 'v.text_value', choices: 'v.text_value', boolean: 'v.bool_value::text' },
  ...{ number: 'v.number_value', rating: 'v.number_value' },
};

const isCounted = (kind: Kind): boolean => counted[kind] !== undefined;

/** How a custom field is counted as a facet. */
export function customFacet(who: Principal, name: string): FacetSource | undefined {
  const field = known.get(name);
  const value = field && counted[field.kind];
  if (!field?.in_facets || !value || !isFor(who, field)) return undefined;
  const label = `coalesce((select o ->> 'label' from custom_fields f, jsonb_array_elements(f.options) o
    where f.id = v.field_id and o ->> 'value' = v.text_value), ${value}::text)`;
  const isMeasured = field.kind === 'number' || field.kind === 'rating';
  return {
    value,
    label,
    join: (query) => query.joinRaw(`join custom_values v on v.item_id = i.id and v.field_id = '${field.id}'`),
    ...(isMeasured && { measured: true as const }),
  };
}

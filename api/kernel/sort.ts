import { z } from 'zod';
import { invalid } from './errors.ts';

/** A sortable field in SQL. `column` must be a trusted constant, never text of a caller. */
export interface SortField {
  column: string;
  /** Postgres type of the value in the cursor: `text`, `bigint`, `timestamptz`, `uuid`, `double precision`, `date`. */
  type: string;
  nullable?: boolean;
  /** For a column of an outer join: condition for a row without a value, because the planner misestimates `is null` there. */
  absent?: { sql: string; bindings: string[] };
  /** Descends when it is the default sort without a sign. */
  descends?: boolean;
  /** A list by this field walks an index with nulls last; other fields sort the filtered rows. */
  indexed?: boolean;
  /** The order is circular from here, for the shuffle of a day. It has no direction: a sign is passed over. */
  start?: number;
}
export type SortTable = Record<string, SortField>;

export interface SortTerm extends SortField {
  name: string;
  descending: boolean;
}

/**
 * Schema of `sort` as text: at most 3 fields of the table, each once; `-` descends. Fields whose names begin with `later` are
 * known only where the list is read.
 */
export function sortQuery(fields: SortTable | readonly string[], later?: string): z.ZodOptional<z.ZodString> {
  const names = Array.isArray(fields) ? fields : Object.keys(fields);
  return z
    .string()
    .max(MOST_SIGNS)
    .meta({ 'x-sort': names })
    .superRefine((text, context) => {
      for (const { code, message } of sortFaults(text, names, later))
        context.addIssue({ code: 'custom', message, params: { code } });
    })
    .optional()
    .describe(`Up to three of ${names.join(', ')}; - descends`);
}

/** The longest sort, in characters. */
const MOST_SIGNS = 200;

/** All faults of a sort, which are reported with those of the rest of the query. */
function sortFaults(
  text: string,
  known: readonly string[],
  later: string | undefined,
): { code: string; message: string }[] {
  if (text === '' || text.length > MOST_SIGNS) return []; // the length is a fault of its own
  const names = text.split(',').map((word) => word.replace(/^-/, ''));
  const unknown = names.filter((name) => !known.includes(name) && !(later !== undefined && name.startsWith(later)));
  return [
    ...unknown.map((name) => ({ code: 'unknown_field', message: `cannot sort by ${name.slice(0, 40)}` })),
    ...(names.length > 3 ? [{ code: 'too_big', message: 'at most three fields' }] : []),
    ...(new Set(names).size < names.length ? [{ code: 'duplicate', message: 'a field twice' }] : []),
  ];
}

/** Throws 400 for more than three, repeated or unknown fields. */
export function parseSort(text: string | undefined, table: SortTable, fallback: string): SortTerm[] {
  const words = (text || fallback).split(',');
  const terms = words.map((word) => {
    const name = word.replace(/^-/, '');
    const field = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!field) throw invalid(['query', 'sort'], 'unknown_field', `cannot sort by ${name}`);
    return { ...field, name, descending: field.start === undefined && word.startsWith('-') };
  });
  if (terms.length > 3) throw invalid(['query', 'sort'], 'too_big', 'at most three fields');
  if (new Set(terms.map((term) => term.name)).size < terms.length) {
    throw invalid(['query', 'sort'], 'duplicate', 'a field twice');
  }
  return terms;
}

/** The sort as a query string. */
export function printSort(terms: readonly SortTerm[]): string {
  return terms.map((term) => (term.descending ? '-' : '') + term.name).join(',');
}

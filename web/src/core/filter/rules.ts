// Changes of a filter by facets: several values of one field are one condition.
import type { Condition } from './parse.ts';

/** The values of a field that pass the filter. */
export const valuesOf = (conditions: readonly Condition[], field: string): readonly string[] =>
  conditions
    .filter((one) => one.field === field && (one.op === 'eq' || one.op === 'in'))
    .flatMap(({ values }) => values);

/** The field with exactly these values; without values it has no condition. */
export function withValues(conditions: readonly Condition[], field: string, values: readonly string[]): Condition[] {
  const others = conditions.filter((one) => one.field !== field);
  if (values.length === 0) return others;
  return [...others, { field, op: values.length === 1 ? 'eq' : 'in', values }];
}

/** Adds the value, or removes it where it is. */
export function toggled(conditions: readonly Condition[], field: string, value: string): Condition[] {
  const values = valuesOf(conditions, field);
  const next = values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
  return withValues(conditions, field, next);
}

export const without = (conditions: readonly Condition[], condition: Condition): Condition[] =>
  conditions.filter((one) => one !== condition);

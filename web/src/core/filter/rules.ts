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

/** Values of tags are compared without case. */
const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const hasValue = (conditions: readonly Condition[], field: string, value: string): boolean =>
  valuesOf(conditions, field).some((one) => isSame(one, value));

/** Adds the value, or removes it where it is. */
export function toggled(conditions: readonly Condition[], field: string, value: string): Condition[] {
  const values = valuesOf(conditions, field);
  const others = values.filter((one) => !isSame(one, value));
  const next = others.length < values.length ? others : [...values, value];
  return withValues(conditions, field, next);
}

export const without = (conditions: readonly Condition[], condition: Condition): Condition[] =>
  conditions.filter((one) => one !== condition);

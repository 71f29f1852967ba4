// Conditions of recording rules on programmes.
import { invalid } from '#kernel/errors.ts';
import { type Condition, conditionsOf, parseFilter, printConditions, type Rules } from '#kernel/filter.ts';
import { type SqlField, scalar } from '#kernel/filter-sql.ts';
import { type ProgramContext, programFields } from '../guide/program-fields.ts';
import type { ProgramRow } from '../guide/programs.store.ts';

export const ruleFields = {
  ...programFields,
  series: { kind: 'tag', operators: ['eq', 'ne', 'in', 'nin'], where: scalar('p.series_key', 'text') },
} as const satisfies Record<string, SqlField<ProgramContext>>;

/** A rule without any of these would take most of a guide; their conditions find programmes by an index. */
const NARROWING: Readonly<Record<string, readonly string[]>> = {
  title: ['eq', 'in', 'starts', 'contains'],
  series: ['eq', 'in'],
  category: ['eq', 'in', 'starts', 'contains'],
};

const narrows = ({ field, op }: Condition): boolean => NARROWING[field]?.includes(op) ?? false;

/** The conditions of a match. Throws 400 for one that is none, or that has no title, series or category. */
export function parseMatch(match: string): Rules {
  const rules = parseFilter(match, ruleFields, { path: ['body', 'match'] });
  if (!conditionsOf(rules).some(narrows))
    throw invalid(['body', 'match'], 'too_wide', 'a condition on title, series or category');
  return rules;
}

/** The match of a programme: its series, else its title. */
export function matchOfProgram({ series_key: series, title }: Pick<ProgramRow, 'series_key' | 'title'>): string {
  return printConditions([
    series === null ? { field: 'title', op: 'eq', values: [title] } : { field: 'series', op: 'eq', values: [series] },
  ]);
}

/** The one series that the match is about. */
export function seriesOf(match: string): string | null {
  const all = conditionsOf(parseMatch(match)).filter(({ field, op }) => field === 'series' && op === 'eq');
  return all.length === 1 ? (all[0]?.values[0] ?? null) : null;
}

/** A name for a rule without one: its titles, else its series or categories. */
export function nameOf(match: string): string {
  const found = conditionsOf(parseMatch(match)).filter(narrows);
  const [best] = Object.keys(NARROWING).flatMap((name) => found.filter(({ field }) => field === name));
  return (best?.values.join(', ') ?? '').slice(0, 200);
}

// Conditions of recording rules on programmes.

import { invalid } from '#kernel/errors.ts';
import { parseFilter, type Rule, type Rules } from '#kernel/filter.ts';
import { type SqlField, scalar } from '#kernel/filter-sql.ts';
import { type ProgramContext, programFields } from '../guide/program-fields.ts';

export const ruleFields = {
  ...programFields,
  series: { kind: 'text', where: scalar('p.series_key', 'text') },
} as const satisfies Record<string, SqlField<ProgramContext>>;

/** A rule without any of these would take most of a guide. */
const NARROWING = ['title', 'series', 'category'];

const fieldsOf = (rule: Rule): string[] => ('field' in rule ? [rule.field] : namesOf(rule));
const namesOf = (rules: Rules): string[] => ('all' in rules ? rules.all : rules.any).flatMap(fieldsOf);

/** The conditions of a match. Throws 400 for one that is none, or that has no title, series or category. */
export function parseMatch(match: string): Rules {
  const rules = parseFilter(match, ruleFields, { path: ['body', 'match'] });
  if (!namesOf(rules).some((name) => NARROWING.includes(name)))
    throw invalid(['body', 'match'], 'too_wide', 'a condition on title, series or category');
  return rules;
}

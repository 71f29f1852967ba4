import { z } from 'zod';
import { ApiError, type Issue, invalidAll } from './errors.ts';
import {
  checkValues,
  type FieldKind,
  type FilterField,
  kindOperators,
  type Operator,
  operators,
} from './filter-fields.ts';

/**
 * Parses the filter string (`field:op:value;…`) and its JSON form (`all` and `any` groups) to one tree of
 * conditions, which filter-sql.ts translates to SQL. This file knows no columns.
 */

export type { FieldKind, FilterField, Operator };
export { kindOperators, operators };
export type FieldTable = Readonly<Record<string, FilterField>>;

/** Values are the written text (`2000`, `now-30d`, `true`), checked against the kind of the field. */
export interface Condition {
  field: string;
  op: Operator;
  values: readonly string[];
}
export type Rules = { all: readonly Rule[] } | { any: readonly Rule[] };
export type Rule = Condition | Rules;

export const MAX_CONDITIONS = 20;
export const MAX_LENGTH = 2000;

export const RuleCondition = z
  .strictObject({
    field: z.string().max(100),
    op: z.enum(operators),
    value: z
      .union([
        z.string().max(MAX_LENGTH),
        z.number(),
        z.boolean(),
        z.array(z.union([z.string().max(MAX_LENGTH), z.number()])).max(200),
      ])
      .optional()
      .describe('None with exists; a date may be relative, such as now-30d'),
  })
  .meta({ id: 'RuleCondition' });
export type RuleCondition = z.output<typeof RuleCondition>;

export type RuleGroup = { all: (RuleCondition | RuleGroup)[] } | { any: (RuleCondition | RuleGroup)[] };
/** Groups nest up to three levels; `parseRules` refuses deeper ones and more than 50 conditions. */
export const RuleGroup: z.ZodType<RuleGroup, RuleGroup> = z
  .lazy(() => {
    const members = z
      .array(z.union([RuleCondition, RuleGroup]))
      .min(1)
      .max(50);
    return z.union([z.strictObject({ all: members }), z.strictObject({ any: members })]);
  })
  .meta({ id: 'RuleGroup' });

/**
 * Schema of `filter` as text over these fields. Its issues are reported with those of the rest of the query. A field that
 * only some callers or some lists may use is checked where it is read; fields whose names begin with `later` are known only there.
 */
export function filterQuery(fields: FieldTable, description: string, later?: string): z.ZodOptional<z.ZodString> {
  return z
    .string()
    .max(MAX_LENGTH)
    .meta({ 'x-filter': describedFields(fields) })
    .superRefine((text, context) => {
      for (const { path, code, message } of filterFaults(text, fields, later))
        context.addIssue({ code: 'custom', path: [...path], message, params: { code } });
    })
    .optional()
    .describe(description);
}

/** Description of the fields for programs that build filters; operators are listed when they are fewer than those of the kind. */
function describedFields(fields: FieldTable): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { kind, values, operators: own }]) => {
      return [name, { kind, ...(own && { operators: own }), ...(values && { values }) }];
    }),
  );
}

function filterFaults(text: string, fields: FieldTable, later: string | undefined): readonly Issue[] {
  if (text.length > MAX_LENGTH) return []; // the length is reported by the schema
  try {
    parseFilter(text, fields, { path: [], later });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details as { issues: Issue[] }).issues;
  }
}

interface ParseOptions {
  /** Where issues are reported. */
  path?: readonly string[];
  /** Conditions on fields whose names begin so are passed over. */
  later?: string | undefined;
}

/** Parses conditions joined by `;`, all of which must match. Throws one 400 with every issue and the number of its condition. */
export function parseFilter(
  text: string | undefined,
  fields: FieldTable,
  { path = ['query', 'filter'], later }: ParseOptions = {},
): Rules {
  if (text === undefined || text === '') return { all: [] };
  if (text.length > MAX_LENGTH) throw invalidAll([issue(path, 'too_big', `at most ${MAX_LENGTH} characters`)]);
  const parts = splitAt(text, ';');
  if (parts.length > MAX_CONDITIONS)
    throw invalidAll([issue(path, 'too_many', `at most ${MAX_CONDITIONS} conditions`)]);
  const issues: Issue[] = [];
  const all = parts.flatMap((part, number): Condition[] => {
    const problem = (code: string, message: string): [] => {
      issues.push(issue([...path, number], code, `condition ${number + 1}: ${message}`));
      return [];
    };
    const raw = readCondition(part);
    if (!raw) return problem('malformed', 'is not field:op:value');
    if (later !== undefined && raw.field.startsWith(later)) return [];
    return checked(raw, fields, problem);
  });
  if (issues.length > 0) throw invalidAll(issues);
  return { all };
}

/** Undefined for a text that is not `field:op:value`. */
function readCondition(text: string): RawCondition | undefined {
  const [field = '', op = '', ...rest] = splitAt(text, ':');
  if (rest.length === 0) return undefined;
  return { field: plain(field), op, values: splitAt(rest.join(':'), ',').map(plain) };
}

/** The conditions of a filter that was checked when it was kept, as they are written. */
export const rawConditions = (text: string): RawCondition[] =>
  text === '' ? [] : splitAt(text, ';').flatMap((part) => readCondition(part) ?? []);

/** The string of conditions as they are written. */
export const printConditions = (conditions: readonly RawCondition[]): string =>
  conditions.map(({ field, op, values }) => [marked(field), op, values.map(marked).join(',')].join(':')).join(';');

/** Parses the JSON form. Throws one 400 with every issue. */
export function parseRules(group: RuleGroup, fields: FieldTable, path: readonly (string | number)[] = ['body']): Rules {
  const issues: Issue[] = [];
  let count = 0;
  const parseGroup = (one: RuleGroup, at: readonly (string | number)[], level: number): Rules => {
    const [name, members] = 'all' in one ? (['all', one.all] as const) : (['any', one.any] as const);
    if (level > 3) issues.push(issue(at, 'too_deep', 'groups nest up to three levels'));
    const rules =
      level > 3 ? [] : members.flatMap((member, i): Rule[] => parseMember(member, [...at, name, i], level + 1));
    return name === 'all' ? { all: rules } : { any: rules };
  };
  const parseMember = (member: RuleCondition | RuleGroup, at: readonly (string | number)[], level: number): Rule[] => {
    if (!('field' in member)) return [parseGroup(member, at, level)];
    count += 1;
    const problem = (code: string, message: string): [] => {
      issues.push(issue(at, code, `condition ${count}: ${message}`));
      return [];
    };
    return checked({ field: member.field, op: member.op, values: textOf(member) }, fields, problem);
  };
  const rules = parseGroup(group, path, 1);
  if (count > 50) issues.push(issue(path, 'too_many', 'at most 50 conditions'));
  if (issues.length > 0) throw invalidAll(issues);
  return rules;
}

/** The rules of a JSON form that was checked. */
export function rawRules(group: RuleGroup): Rules {
  const read = (member: RuleCondition | RuleGroup): Rule =>
    'field' in member ? { field: member.field, op: member.op, values: textOf(member) } : rawRules(member);
  return 'all' in group ? { all: group.all.map(read) } : { any: group.any.map(read) };
}

/** The values of a condition of the JSON form as text. */
export function textOf({ op, value }: RuleCondition): string[] {
  if (value === undefined) return op === 'exists' ? ['true'] : [];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

/** A condition as it is written, before it is checked. */
export interface RawCondition {
  field: string;
  op: string;
  values: readonly string[];
}

function checked(raw: RawCondition, fields: FieldTable, problem: (code: string, message: string) => []): Condition[] {
  const fault = faultOf(raw, fields);
  return fault ? problem(fault.code, fault.message) : [raw as Condition];
}

/** Why a condition is refused; undefined for a valid one. */
export function faultOf(
  raw: RawCondition,
  fields: FieldTable,
): { code: 'unknown_field' | 'bad_operator' | 'bad_value'; message: string } | undefined {
  const field = Object.hasOwn(fields, raw.field) ? fields[raw.field] : undefined;
  if (!field) return { code: 'unknown_field', message: `there is no field ${raw.field.slice(0, 40)} here` };
  const op = operators.find((known) => known === raw.op);
  if (!op || !operatorsOf(field).includes(op))
    return { code: 'bad_operator', message: `${raw.field} takes ${operatorsOf(field).join(', ')}` };
  const wrong = checkValues(field, op, raw.values);
  return wrong === undefined ? undefined : { code: 'bad_value', message: wrong };
}

export function operatorsOf(field: FilterField): readonly Operator[] {
  return field.operators ?? kindOperators[field.kind];
}

/** The string that parses to the same rules; undefined for rules with an `any`. Groups of `all` are joined. */
export function printFilter(rules: Rules): string | undefined {
  const flat = flatten(rules);
  return flat && printConditions(flat);
}

/** The conditions of nested groups of `all`; undefined with an `any` of several members. */
function flatten(rules: Rules): Condition[] | undefined {
  const members = 'all' in rules ? rules.all : rules.any;
  if ('any' in rules && members.length > 1) return undefined;
  const parts = members.map((rule) => ('field' in rule ? [rule] : flatten(rule)));
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

/** The JSON form of rules. */
export function printRules(rules: Rules): RuleGroup {
  const print = (rule: Rule): RuleCondition | RuleGroup => ('field' in rule ? printCondition(rule) : printRules(rule));
  return 'all' in rules ? { all: rules.all.map(print) } : { any: rules.any.map(print) };
}

function printCondition({ field, op, values }: Condition): RuleCondition {
  const [only] = values;
  if (op === 'exists') return only === 'true' ? { field, op } : { field, op, value: false };
  return { field, op, value: values.length === 1 && only !== undefined ? only : [...values] };
}

/** Every condition, including those of groups. */
export function conditionsOf(rules: Rules): Condition[] {
  const members = 'all' in rules ? rules.all : rules.any;
  return members.flatMap((rule) => ('field' in rule ? [rule] : conditionsOf(rule)));
}

/** The rules without the conditions of a field: a facet is counted with all conditions except its own. */
export function withoutField(rules: Rules, field: string): Rules {
  const keep = (members: readonly Rule[]): Rule[] =>
    members.flatMap((rule): Rule[] => {
      if ('field' in rule) return rule.field === field ? [] : [rule];
      return conditionsOf(withoutField(rule, field)).length > 0 ? [withoutField(rule, field)] : [];
    });
  return 'all' in rules ? { all: keep(rules.all) } : { any: keep(rules.any) };
}

const issue = (path: readonly (string | number)[], code: string, message: string): Issue => ({
  path: [...path],
  code,
  message,
});

/** Splits at each unescaped `mark`; the pieces keep their escapes. */
function splitAt(text: string, mark: ';' | ':' | ','): string[] {
  const pieces: string[] = [];
  let begin = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === mark) {
      pieces.push(text.slice(begin, i));
      begin = i + 1;
    }
  }
  return [...pieces, text.slice(begin)];
}

const plain = (text: string): string => text.replace(/\\([;,:\\])/g, '$1');
const marked = (text: string): string => text.replace(/[;,:\\]/g, '\\$&');

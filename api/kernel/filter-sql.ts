import type { Knex } from 'knex';
import type { Condition, FilterField, Operator, Rules } from './filter.ts';
import { parseDate, type Span } from './filter-fields.ts';

/** Translates rules to conditions of a knex query. Every value is a bound parameter; SQL text comes only from the field table. */

type Query = Knex.QueryBuilder;

/** Adds one condition; `context` is what the fields of the area need, such as the caller or the time. */
export type Where<C> = (query: Query, condition: Condition, context: C) => void;

export interface SqlField<C> extends FilterField {
  where: Where<C>;
}

export interface Compiling<C> {
  fields: Readonly<Record<string, SqlField<C>>>;
  context: C;
}

/** Adds the rules to the query; rules without conditions add nothing. */
export function applyRules<C>(query: Query, rules: Rules, compiling: Compiling<C>): void {
  const members = 'all' in rules ? rules.all : rules.any;
  if (members.length === 0) return;
  query.where((group: Query) => {
    for (const rule of members) {
      const one = (inner: Query): void => {
        if (!('field' in rule)) applyRules(inner, rule, compiling);
        else compiling.fields[rule.field]?.where(inner, rule, compiling.context);
      };
      if ('all' in rules) group.where(one);
      else group.orWhere(one);
    }
  });
}

type Bind = (expression: string, values: readonly string[]) => [sql: string, bindings: Knex.RawBinding[]];

const comparing =
  (sign: string) =>
  (type: string): Bind =>
  (expression, [value = '']) => [`${expression} ${sign} ?::${type}`, [value]];

const scalarOperators: Partial<Record<Operator, (type: string) => Bind>> = {
  eq: comparing('='),
  ne: comparing('is distinct from'),
  gt: comparing('>'),
  gte: comparing('>='),
  lt: comparing('<'),
  lte: comparing('<='),
  between:
    (type) =>
    (expression, [low = '', high = '']) => [`${expression} between ?::${type} and ?::${type}`, [low, high]],
  in: (type) => (expression, values) => [`${expression} = any(?::${type}[])`, [[...values]]],
  nin: (type) => (expression, values) => [
    `(${expression} is null or not ${expression} = any(?::${type}[]))`,
    [[...values]],
  ],
  exists:
    () =>
    (expression, [wanted]) => [`${expression} is ${wanted === 'true' ? 'not ' : ''}null`, []],
};

/**
 * A trusted column or expression of Postgres type `type`; a row without a value equals none. `own` are the bindings of
 * the `?` in the expression itself.
 */
export function scalar<C>(
  expression: string,
  type: string,
  own: (context: C) => readonly Knex.RawBinding[] = () => [],
): Where<C> {
  return (query, { op, values }, context) => {
    const bind = scalarOperators[op]?.(type);
    if (!bind) throw new Error(`no operator ${op} for ${expression}`);
    const [sql, bindings] = bind(expression, values);
    const uses = sql.split(expression).slice(1); // own bindings precede the values
    query.whereRaw(sql, [...uses.flatMap(() => own(context)), ...bindings]);
  };
}

/** A field over a boolean expression that is never null. */
export function flag<C>(expression: string): Where<C> {
  return (query, { op, values }) => {
    query.whereRaw((values[0] === 'true') === (op === 'eq') ? expression : `not (${expression})`);
  };
}

/** Escapes `%` and `_`, which are plain characters in values. */
const likeText = (value: string): string => value.replace(/[\\%_]/g, '\\$&');

const textOperators: Partial<Record<Operator, Bind>> = {
  eq: (expression, [value = '']) => [`${expression} = foyer_fold(?)`, [value]],
  ne: (expression, [value = '']) => [`${expression} is distinct from foyer_fold(?)`, [value]],
  in: (expression, values) => [`${expression} in (${values.map(() => 'foyer_fold(?)').join()})`, [...values]],
  nin: (expression, values) => [
    `(${expression} is null or ${expression} not in (${values.map(() => 'foyer_fold(?)').join()}))`,
    [...values],
  ],
  contains: (expression, [value = '']) => [`${expression} like foyer_fold(?)`, [`%${likeText(value)}%`]],
  starts: (expression, [value = '']) => [`${expression} like foyer_fold(?)`, [`${likeText(value)}%`]],
  exists: (expression, [wanted]) => [`${expression} is ${wanted === 'true' ? 'not ' : ''}null`, []],
};

/** Text compared without case and accents; `expression` must be folded already (`foyer_fold(i.title)`). */
export function folded<C>(expression: string): Where<C> {
  return (query, { op, values }) => {
    const bind = textOperators[op];
    if (!bind) throw new Error(`no operator ${op} for ${expression}`);
    query.whereRaw(...bind(expression, values));
  };
}

/** A time. A day covers its 24 hours, so `gt` a day is after it and `eq` a day is within it. */
export function moment<C extends { now: Date }>(expression: string): Where<C> {
  return dated(expression, { type: 'timestamptz', text: (date) => date.toISOString() });
}

/** A column of type `date`. */
export function calendarDay<C extends { now: Date }>(expression: string): Where<C> {
  return dated(expression, { type: 'date', text: (date) => date.toISOString().slice(0, 10), whole: true });
}

interface DateForm {
  type: string;
  text(date: Date): string;
  /** Compare a time by its day. */
  whole?: boolean;
}

function dated<C extends { now: Date }>(expression: string, form: DateForm): Where<C> {
  const value = `?::${form.type}`;
  return (query, { op, values }, { now }) => {
    if (op === 'exists') {
      query.whereRaw(`${expression} is ${values[0] === 'true' ? 'not ' : ''}null`);
      return;
    }
    const [first, last = first] = values.map((text) => spanOf(text, now, form));
    if (!first || !last) throw new Error(`no date in ${values.join()}`);
    const [from, to] = [form.text(first.from), form.text(last.to)];
    const within = `(${expression} >= ${value} and ${expression} < ${value})`;
    if (op === 'eq' || op === 'between') query.whereRaw(within, [from, to]);
    else if (op === 'ne') query.whereRaw(`${within} is not true`, [from, to]);
    else query.whereRaw(...outside(expression, op, { value, from, to }));
  };
}

function outside(
  expression: string,
  op: Operator,
  { value, from, to }: { value: string; from: string; to: string },
): [string, string[]] {
  if (op === 'gt') return [`${expression} >= ${value}`, [to]];
  if (op === 'gte') return [`${expression} >= ${value}`, [from]];
  if (op === 'lt') return [`${expression} < ${value}`, [from]];
  return [`${expression} < ${value}`, [to]];
}

function spanOf(text: string, now: Date, form: DateForm): Span | undefined {
  const span = parseDate(text, now);
  if (!span || !form.whole) return span;
  return parseDate(span.from.toISOString().slice(0, 10), now);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The ids among values that are ids or names. */
export function idsIn(values: readonly string[]): string[] {
  return values.filter((value) => UUID.test(value));
}

/** True when a condition on related rows matches items that have no such row. */
export function matchesAbsence({ op, values }: Condition): boolean {
  return op === 'ne' || op === 'nin' || (op === 'exists' && values[0] === 'false');
}

/** The same condition without its negation: `ne` becomes `eq`, `nin` becomes `in`. */
export function positive(condition: Condition): Condition {
  if (condition.op === 'ne') return { ...condition, op: 'eq' };
  return condition.op === 'nin' ? { ...condition, op: 'in' } : condition;
}

/**
 * A field that matches when a related row exists: `rows` starts a correlated sub-query, `match` narrows it to
 * the values. `ne` and `nin` match without such a row.
 */
export function related<C>(rows: (query: Query, context: C) => unknown, match: Where<C>): Where<C> {
  return (query, condition, context) => {
    const sub = (inner: Query): void => {
      rows(inner.select(inner.client.raw('1')), context);
      if (condition.op === 'exists') return;
      inner.where((all: Query) => match(all, positive(condition), context));
    };
    if (matchesAbsence(condition)) query.whereNotExists(sub);
    else query.whereExists(sub);
  };
}

/** Matches rows by id or by folded name. */
export function idOrName<C>({ id, name }: { id?: string; name: string }): Where<C> {
  const byName = folded<C>(name);
  return (query, condition, context) => {
    const ids =
      id === undefined || condition.op === 'contains' || condition.op === 'starts' ? [] : idsIn(condition.values);
    query.where((either: Query) => byName(either, condition, context));
    if (ids.length > 0) query.orWhereRaw(`${id} = any(?::uuid[])`, [ids]);
  };
}

/** Operators and value shapes of each kind of filter field. */

export const operators = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'nin',
  'contains',
  'starts',
  'between',
  'exists',
] as const;
export type Operator = (typeof operators)[number];

export const fieldKinds = [
  'text',
  'number',
  'date',
  'boolean',
  'enum',
  'person',
  'tag',
  'duration',
  'language',
  'bytes',
] as const;
export type FieldKind = (typeof fieldKinds)[number];

export interface FilterField {
  kind: FieldKind;
  /** Closed list of an enum; absent is an open one. */
  values?: readonly string[];
  /** The field takes whole numbers only. */
  integer?: boolean;
  /** A narrower shape of the values. */
  shape?: RegExp;
  /** Operators, when they are fewer than those of the kind. */
  operators?: readonly Operator[];
}

const measured = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'between', 'exists'] as const;
const named = ['eq', 'ne', 'in', 'nin', 'contains', 'starts', 'exists'] as const;
const chosen = ['eq', 'ne', 'in', 'nin', 'exists'] as const;

export const kindOperators: Record<FieldKind, readonly Operator[]> = {
  text: named,
  number: measured,
  date: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'between', 'exists'],
  boolean: ['eq', 'ne'],
  enum: chosen,
  person: named,
  tag: named,
  duration: measured,
  language: chosen,
  bytes: measured,
};

/** The fault of the values of a condition; undefined when they are valid. */
export function checkValues(field: FilterField, op: Operator, values: readonly string[]): string | undefined {
  const count = wrongCount(op, values.length);
  if (count) return count;
  if (op === 'exists') return values[0] === 'true' || values[0] === 'false' ? undefined : 'exists takes true or false';
  for (const value of values) {
    const wrong = wrongValue(field, value);
    if (wrong) return `${JSON.stringify(value.slice(0, 40))} is not ${wrong}`;
  }
  return undefined;
}

function wrongCount(op: Operator, count: number): string | undefined {
  if (op === 'in' || op === 'nin') return count >= 1 && count <= 200 ? undefined : `${op} takes 1 to 200 values`;
  const wanted = op === 'between' ? 2 : 1;
  return count === wanted ? undefined : `${op} takes ${wanted === 1 ? 'one value' : 'two values'}`;
}

const shapes: Record<Exclude<FieldKind, 'date'>, { shape: RegExp; name: string }> = {
  text: { shape: /^[^\0]{1,500}$/su, name: 'a text' },
  number: { shape: /^-?\d{1,15}(\.\d{1,6})?$/, name: 'a number' },
  boolean: { shape: /^(true|false)$/, name: 'true or false' },
  enum: { shape: /^[^\0]{1,100}$/su, name: 'a word' },
  person: { shape: /^[^\0]{1,200}$/su, name: 'an id or a name' },
  tag: { shape: /^[^\0]{1,200}$/su, name: 'an id or a name' },
  duration: { shape: /^\d{1,15}$/, name: 'milliseconds' },
  language: { shape: /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/, name: 'a language' },
  bytes: { shape: /^\d{1,15}$/, name: 'bytes' },
};

function wrongValue(field: FilterField, value: string): string | undefined {
  if (field.kind === 'date') return parseDate(value, new Date(0)) ? undefined : 'a day, a time or now-30d';
  const { shape, name } = shapes[field.kind];
  if (!shape.test(value)) return name;
  if (field.integer && value.includes('.')) return 'a whole number';
  if (field.shape && !field.shape.test(value)) return 'of that shape';
  if (field.values && !field.values.includes(value)) return `one of ${field.values.join(', ')}`;
  return undefined;
}

/** The span of a date value: 24 hours for a day, one millisecond for a time or a relative date. */
export interface Span {
  from: Date;
  /** Exclusive end. */
  to: Date;
}

const DAY = 86_400_000;
const unitMs = { h: 3_600_000, d: DAY, w: 7 * DAY } as const;
const RELATIVE = /^now(?:([+-])(\d{1,5})([hdwmy]))?$/;

/** `2024-05-01`, `2024-05-01T10:00:00Z`, `now`, `now-30d` (h, d, w, m for months, y); undefined for anything else. */
export function parseDate(text: string, now: Date): Span | undefined {
  const relative = RELATIVE.exec(text);
  if (relative) return instant(shifted(now, relative));
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const from = new Date(`${text}T00:00:00.000Z`);
    if (Number.isNaN(from.getTime()) || from.toISOString().slice(0, 10) !== text) return undefined;
    return { from, to: new Date(from.getTime() + DAY) };
  }
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  return instant(new Date(text));
}

function instant(from: Date): Span | undefined {
  const year = from.getUTCFullYear(); // NaN for an invalid time
  return year >= 0 && year <= 9999 ? { from, to: new Date(from.getTime() + 1) } : undefined;
}

function shifted(now: Date, [, sign, digits, unit]: RegExpExecArray): Date {
  const count = Number(digits ?? 0) * (sign === '-' ? -1 : 1);
  if (unit === 'h' || unit === 'd' || unit === 'w') return new Date(now.getTime() + count * unitMs[unit]);
  const date = new Date(now);
  if (unit === 'm') date.setUTCMonth(date.getUTCMonth() + count);
  if (unit === 'y') date.setUTCFullYear(date.getUTCFullYear() + count);
  return date;
}

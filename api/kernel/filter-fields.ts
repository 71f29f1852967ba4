/** Which operators a kind of field takes and what its values look like. */

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
  /** Enum: the closed list; open when absent. */
  values?: readonly string[];
  /** Numbers of this field are whole. */
  integer?: boolean;
  /** A narrower shape of its values. */
  shape?: RegExp;
  /** Fewer than its kind takes. */
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

/** What is wrong with the values of a condition; undefined when nothing is. */
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

const shapes: Record<Exclude<FieldKind, 'date'>, { shape: RegExp; told: string }> = {
  text: { shape: /^[^\0]{1,500}$/su, told: 'a text' },
  number: { shape: /^-?\d{1,15}(\.\d{1,6})?$/, told: 'a number' },
  boolean: { shape: /^(true|false)$/, told: 'true or false' },
  enum: { shape: /^[^\0]{1,100}$/su, told: 'a word' },
  person: { shape: /^[^\0]{1,200}$/su, told: 'an id or a name' },
  tag: { shape: /^[^\0]{1,200}$/su, told: 'an id or a name' },
  duration: { shape: /^\d{1,15}$/, told: 'milliseconds' },
  language: { shape: /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/, told: 'a language' },
  bytes: { shape: /^\d{1,15}$/, told: 'bytes' },
};

function wrongValue(field: FilterField, value: string): string | undefined {
  if (field.kind === 'date') return parseDate(value, new Date(0)) ? undefined : 'a day, a time or now-30d';
  const { shape, told } = shapes[field.kind];
  if (!shape.test(value)) return told;
  if (field.integer && value.includes('.')) return 'a whole number';
  if (field.shape && !field.shape.test(value)) return 'of that shape';
  if (field.values && !field.values.includes(value)) return `one of ${field.values.join(', ')}`;
  return undefined;
}

/** What a date value covers: a day is 24 hours, a time or a relative date one millisecond. */
export interface Span {
  from: Date;
  /** Exclusive. */
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
  const year = from.getUTCFullYear(); // NaN for no time at all
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

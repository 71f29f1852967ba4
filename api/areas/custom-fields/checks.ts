import { type Issue, invalid } from '#kernel/errors.ts';
import type { Option, Value } from './custom-fields.schemas.ts';
import type { FieldRow } from './custom-fields.store.ts';
import { LONGEST } from './kinds.ts';

/** A value as the table stores it: one or more texts, a number, a day, a boolean or an id. */
export type Stored = string | number | boolean | readonly string[];

type Checked = { value: Stored } | { code: string; message: string };

const fault = (code: string, message: string): Checked => ({ code, message });
const wrong = (kind: string): Checked => fault('invalid_type', `not a value of kind ${kind}`);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

type Bounds = Pick<FieldRow, 'kind' | 'options' | 'min' | 'max' | 'decimals' | 'max_length'>;

type Check = (field: Bounds, value: Value) => Checked;

const checkReference: Check = ({ kind }, value) =>
  typeof value === 'string' && UUID.test(value) ? { value: value.toLowerCase() } : wrong(kind);

const checks: Readonly<Record<FieldRow['kind'], Check>> = {
  ...{ text: checkText, 'long-text': checkText, url: checkUrl },
  ...{ number: checkNumber, duration: checkNumber, rating: checkNumber },
  boolean: (_field, value) => (typeof value === 'boolean' ? { value } : wrong('boolean')),
  date: checkDay,
  choice: ({ options }, value) => (typeof value === 'string' ? checkOptions(options, [value], value) : wrong('choice')),
  choices: ({ options }, value) =>
    Array.isArray(value) ? checkOptions(options, value, [...new Set(value)]) : wrong('choices'),
  ...{ person: checkReference, item: checkReference },
};

/** Checks a value against its definition. References are looked up where the value is written. */
export function checkValue(field: Bounds, value: Value): Checked {
  return checks[field.kind](field, value);
}

function checkText({ kind, max_length: own }: Bounds, value: Value): Checked {
  if (typeof value !== 'string') return wrong(kind);
  const text = value.trim();
  const most = Math.min(own ?? Number.POSITIVE_INFINITY, LONGEST[kind] ?? 0);
  if (text === '') return fault('too_small', 'an empty text is no value: null clears it');
  if (text.length > most) return fault('too_big', `at most ${most} characters`);
  const shape = shapeFault(kind, text);
  return shape === undefined ? { value: text } : fault('invalid_format', shape);
}

function shapeFault(kind: FieldRow['kind'], text: string): string | undefined {
  if (text.includes('\0')) return 'no control characters';
  if (kind === 'text' && /[\n\r]/.test(text)) return 'one line';
  return kind === 'long-text' && /<[a-z!/?]/i.test(text) ? 'Markdown without HTML' : undefined;
}

function checkUrl(_field: Bounds, value: Value): Checked {
  if (typeof value !== 'string') return wrong('url');
  if (value.length > (LONGEST.url ?? 0)) return fault('too_big', `at most ${LONGEST.url} characters`);
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return fault('invalid_format', 'an http or https address');
  return { value: url.href };
}

function checkNumber({ kind, min, max, decimals }: Bounds, value: Value): Checked {
  if (typeof value !== 'number' || !isOfKind(kind, value)) return wrong(kind);
  if (decimals !== null && Number(value.toFixed(decimals)) !== value)
    return fault('invalid_format', `at most ${decimals} decimals`);
  const most = kind === 'rating' ? Math.min(max ?? 10, 10) : max;
  return within({ min, max: most }, value) ?? { value };
}

function isOfKind(kind: FieldRow['kind'], value: number): boolean {
  if (kind === 'duration') return Number.isInteger(value) && value >= 0;
  return Number.isFinite(value) && (kind !== 'rating' || value >= 0);
}

function checkDay({ min, max }: Bounds, value: Value): Checked {
  if (typeof value !== 'string' || !DAY.test(value)) return wrong('date');
  const at = new Date(`${value}T00:00:00Z`);
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(value)) return wrong('date');
  return within({ min, max }, at.getTime()) ?? { value };
}

function within({ min, max }: Pick<Bounds, 'min' | 'max'>, value: number): Checked | undefined {
  if (min !== null && value < min) return fault('too_small', `at least ${min}`);
  return max !== null && value > max ? fault('too_big', `at most ${max}`) : undefined;
}

function checkOptions(options: readonly Option[], chosen: readonly string[], stored: Stored): Checked {
  const known = new Set(options.map(({ value }) => value));
  if (chosen.length === 0) return fault('too_small', 'no choice is no value: null clears it');
  return chosen.every((one) => known.has(one)) ? { value: stored } : fault('unknown_option', 'there is no such option');
}

/** Throws 400 when the default is no value of the kind. */
export function checkDefault(field: Bounds, value: Value | null): void {
  if (value === null) return;
  const checked = checkValue(field, value);
  if ('code' in checked) throw invalid(['body', 'default'], checked.code, checked.message);
}

/** Issues of `custom.<key>` in the body of an edit. */
export const issueAt = (key: string, code: string, message: string): Issue => ({
  path: ['body', 'custom', key],
  code,
  message: `custom.${key}: ${message}`,
});

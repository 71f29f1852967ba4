// The form of a rule, and what it sends.
import type { CreateRecordingRuleBody, RecordingRule, UpdateRecordingRuleBody } from 'foyer-client';
import { type Condition, parseFilter, printFilter } from '#core/filter/parse.ts';

const MINUTE = 60_000;
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

/** The conditions that the form shows; `rest` are others, which stay as they are. */
export interface Wanted {
  title: string;
  category: string;
  kind: string;
  rest: string;
}

export interface RuleForm extends Wanted {
  /** Of a new rule: what to look for is taken from this programme. */
  programId: string;
  name: string;
  enabled: boolean;
  channelIds: string[];
  newOnly: boolean;
  skipOwned: boolean;
  days: Day[];
  from: string;
  to: string;
  startMinutes: string;
  endMinutes: string;
  priority: string;
  keepLast: string;
  keepDays: string;
}

const SHOWN: Readonly<Record<keyof Omit<Wanted, 'rest'>, string>> = { title: 'contains', category: 'eq', kind: 'eq' };
type Shown = keyof typeof SHOWN;
const fields = Object.keys(SHOWN) as Shown[];

const isShown = ({ field, op, values }: Condition, name: Shown): boolean =>
  field === name && op === SHOWN[name] && values.length === 1;

/** A filter as the form shows it. */
export function wantedOf(match: string): Wanted {
  const wanted: Wanted = { title: '', category: '', kind: '', rest: '' };
  const rest: Condition[] = [];
  for (const condition of parseFilter(match)) {
    const name = fields.find((one) => wanted[one] === '' && isShown(condition, one));
    if (name) wanted[name] = condition.values[0] ?? '';
    else rest.push(condition);
  }
  return { ...wanted, rest: printFilter(rest) };
}

export function matchOf(wanted: Wanted): string {
  const shown = fields
    .filter((field) => wanted[field].trim() !== '')
    .map((field) => ({ field, op: SHOWN[field], values: [wanted[field].trim()] }));
  return [printFilter(shown), wanted.rest].filter(Boolean).join(';');
}

export function emptyForm(programId = ''): RuleForm {
  return {
    ...{ title: '', category: '', kind: '', rest: '', programId, name: '', enabled: true, channelIds: [] },
    ...{ newOnly: true, skipOwned: true, days: [], from: '', to: '', startMinutes: '', endMinutes: '' },
    ...{ priority: '50', keepLast: '', keepDays: '' },
  };
}

const minutes = (ms: number): string => String(Math.round(ms / MINUTE));
const written = (value: number | null | undefined): string => (value == null ? '' : String(value));

export function formOf(rule: RecordingRule): RuleForm {
  const { name, enabled, channelIds, newOnly, skipOwned, days, from = '', to = '' } = rule;
  return {
    ...wantedOf(rule.match),
    ...{ programId: '', name, enabled, channelIds: [...channelIds], newOnly, skipOwned, days: [...days], from, to },
    ...{ startMinutes: minutes(rule.startPadMs), endMinutes: minutes(rule.endPadMs), priority: String(rule.priority) },
    ...{ keepLast: written(rule.keepLast), keepDays: written(rule.keepDays) },
  };
}

const numbered = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));

/** What a form sends; empty numbers are left to the server. */
export function bodyOf(form: RuleForm): CreateRecordingRuleBody {
  const [start, end] = [numbered(form.startMinutes), numbered(form.endMinutes)];
  const [priority, keepLast, keepDays] = [form.priority, form.keepLast, form.keepDays].map(numbered);
  return {
    ...(form.programId ? { programId: form.programId } : { match: matchOf(form) }),
    ...(form.name.trim() && { name: form.name.trim() }),
    ...{ channelIds: form.channelIds, newOnly: form.newOnly, skipOwned: form.skipOwned, enabled: form.enabled },
    days: DAYS.filter((day) => form.days.includes(day)),
    ...(form.from && form.to && { from: form.from, to: form.to }),
    ...(start !== undefined && { startPadMs: start * MINUTE }),
    ...(end !== undefined && { endPadMs: end * MINUTE }),
    ...(priority !== undefined && { priority }),
    ...(keepLast !== undefined && { keepLast }),
    ...(keepDays !== undefined && { keepDays }),
  };
}

/** What the form of a rule sends that is there already: an empty field removes its value. */
export function changeOf(form: RuleForm): UpdateRecordingRuleBody {
  const { programId: _, ...body } = bodyOf(form);
  return { keepLast: null, keepDays: null, from: null, to: null, ...body };
}

/** Whether there is something to look for. */
export const isReady = (form: RuleForm): boolean => form.programId !== '' || matchOf(form) !== '';

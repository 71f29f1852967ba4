// Five-field cron expressions that have a next time, checked field by field, so that `kubectl apply` names the invalid field.
import { z } from 'zod';
import { type Rule, withRules } from './structural.ts';

const FIELDS = /^\S+( +\S+){4}$/;

interface Field {
  name: string;
  /** One value, in lower case. */
  value: string;
  /** Valid steps. */
  step: string;
  /** Other forms than values, ranges and `*`. */
  other?: string;
  means: string;
}

const DAYS = '[0-7]|sun|mon|tue|wed|thu|fri|sat';
const FIELD: readonly Field[] = [
  { name: 'minute', value: '[0-5]?[0-9]', step: '[1-5]?[0-9]', means: '0 to 59' },
  { name: 'hour', value: '2[0-3]|[01]?[0-9]', step: '2[0-3]|1?[0-9]', means: '0 to 23' },
  { name: 'day', value: '3[01]|[12][0-9]|0?[1-9]', step: '3[01]|[12]?[0-9]', other: 'l', means: '1 to 31, or L' },
  {
    name: 'month',
    value: '1[0-2]|0?[1-9]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec',
    step: '1[0-2]|[1-9]',
    means: '1 to 12, or JAN to DEC',
  },
  {
    name: 'day of the week',
    value: DAYS,
    step: '[1-7]',
    other: `(${DAYS})(#[1-5l]|l)`,
    means: '0 to 7, or SUN to SAT',
  },
];

const fieldsOf = (text: string): string[] => text.toLowerCase().split(/ +/);

/** The rule for one field: a list of `*`, values and ranges; `*` and ranges may have a step. */
function ruleOf({ name, value, step, other, means }: Field, index: number): Rule<string> {
  const part = `^(([*]|(${value})-(${value}))(/(${step}))?|${value}${other ? `|${other}` : ''})$`;
  const field = `self.lowerAscii().split(' ').filter(f, f != '')[${index}]`;
  return {
    rule: `${field}.split(',').all(p, p.matches('${part}'))`,
    message: `the ${name} must be ${means}`,
    holds: (text) => (fieldsOf(text)[index] ?? '').split(',').every((one) => new RegExp(part).test(one)),
  };
}

/** A day that the month does not have, when any day of the week matches; `gap` separates the fields. */
const never = (gap: string): string => `${gap}(3[01]${gap}(0?2|feb)|31${gap}(0?[469]|11|apr|jun|sep|nov))${gap}[*]$`;

export const cron = () =>
  withRules(
    z.string().max(100).regex(FIELDS, 'must be a cron expression of five fields'),
    ...FIELD.map(ruleOf),
    {
      rule: `self.lowerAscii().matches('${never('[[:space:]]+')}')==false`,
      message: 'the month must have the day',
      holds: (text) => !new RegExp(never(' +')).test(text.toLowerCase()),
    },
    {
      rule: "self.findAll('[0-9]+-[0-9]+').all(r, int(r.split('-')[0]) <= int(r.split('-')[1]))",
      message: 'ranges must go up',
      holds: (text) => [...text.matchAll(/(\d+)-(\d+)/g)].every(([, from, to]) => Number(from) <= Number(to)),
    },
    {
      rule: "self.matches('/0+(,| |$)') == false",
      message: 'a step must not be 0',
      holds: (text) => !/\/0+(,| |$)/.test(text),
    },
  );

// Five-field cron expressions, as far as they can come: held by the definitions, so that `kubectl apply` refuses what never fires.
import { z } from 'zod';
import { withRules } from './structural.ts';

/** Each letter in either case: a pattern of Kubernetes has no flags. */
const names = (...all: string[]): string =>
  all.map((name) => Array.from(name, (letter) => `[${letter}${letter.toLowerCase()}]`).join('')).join('|');

interface Field {
  /** One value. */
  value: string;
  /** Most of a step. */
  step: string;
  /** Beside values, ranges and `*`. */
  other?: string;
}

const MINUTE: Field = { value: '[0-5]?[0-9]', step: '[1-5]?[0-9]' };
const HOUR: Field = { value: '2[0-3]|[01]?[0-9]', step: '2[0-3]|1?[0-9]' };
const DAY: Field = { value: '3[01]|[12][0-9]|0?[1-9]', step: '3[01]|[12]?[0-9]', other: 'L' };
const MONTHS = names('JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC');
const MONTH: Field = { value: `1[0-2]|0?[1-9]|${MONTHS}`, step: '1[0-2]|[1-9]' };
const DAYS = names('SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT');
const WEEKDAY: Field = { value: `[0-7]|${DAYS}`, step: '[1-7]', other: `([0-7]|${DAYS})(#[1-5L]|L)` };

function listOf({ value, step, other }: Field): string {
  const range = `(${value})-(${value})`;
  const item = `(\\*|${range})(/(${step}))?|(${value})${other ? `|${other}` : ''}`;
  return `(${item})(,(${item}))*`;
}

const CRON = new RegExp(`^${[MINUTE, HOUR, DAY, MONTH, WEEKDAY].map(listOf).join('\\s+')}$`);

/** A day that none of the months has, where the day of the week does not count. */
const NEVER =
  '^\\S+\\s+\\S+\\s+((30|31|30,31|30-31)\\s+(0?2|[Ff][Ee][Bb])|31\\s+(0?[2469]|11|[Ff][Ee][Bb]|[Aa][Pp][Rr]|[Jj][Uu][Nn]|[Ss][Ee][Pp]|[Nn][Oo][Vv]))\\s+\\*$';

export const cron = () =>
  withRules(
    z
      .string()
      .max(100)
      .regex(CRON, 'must be a cron expression of five fields: minute, hour, day, month, day of the week'),
    {
      rule: `!self.matches('${NEVER.replaceAll('\\', '\\\\')}')`,
      message: 'must be a day that there is: no such month has it',
      holds: (text) => !new RegExp(NEVER).test(text),
    },
    {
      rule: "self.findAll('[0-9]+-[0-9]+').all(r, int(r.split('-')[0]) <= int(r.split('-')[1]))",
      message: 'must have ranges that go up',
      holds: (text) => [...text.matchAll(/(\d+)-(\d+)/g)].every(([, from, to]) => Number(from) <= Number(to)),
    },
    {
      rule: "!self.matches('/0+(\\\\D|$)')",
      message: 'must have no step of 0',
      holds: (text) => !/\/0+(\D|$)/.test(text),
    },
  );

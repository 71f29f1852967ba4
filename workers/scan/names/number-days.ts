import { calendarDay } from '#platform/calendar.ts';
import { endOf, type Numbers } from './number-ranges.ts';

const DAY = /(?<!\d)((?:19|20)\d\d)[\s._-](\d{1,2})[\s._-](\d{1,2})(?!\d)/;
const DAY_BEHIND = /(?<!\d)(\d{1,2})[\s._-](\d{1,2})[\s._-]((?:19|20)\d\d)(?!\d)/;
const COMPACT = /(?<!\d)((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)/;
const WORDED =
  /(?<![\p{L}\d])(\d{1,2})(?:st|nd|rd|th)?[\s._-](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}{0,6}[\s._-]((?:19|20)\d\d)(?!\d)/iu;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** The date of a daily show, in the usual orders. */
export function dated(name: string): Numbers | undefined {
  const day = DAY.exec(name) ?? COMPACT.exec(name);
  if (day) return dayAt(day, [day[1], day[2], day[3]]) ?? dayAt(day, [day[1], day[3], day[2]]) ?? dayBehind(name);
  return dayBehind(name);
}

function dayBehind(name: string): Numbers | undefined {
  const words = WORDED.exec(name);
  if (words) return dayAt(words, [words[3], String(MONTHS.indexOf((words[2] ?? '').toLowerCase()) + 1), words[1]]);
  const day = DAY_BEHIND.exec(name);
  return day ? (dayAt(day, [day[3], day[2], day[1]]) ?? dayAt(day, [day[3], day[1], day[2]])) : undefined;
}

/** The date of a match as numbers. */
export function dayAt(
  match: RegExpExecArray,
  [year = '', month = '', day = '']: (string | undefined)[],
): Numbers | undefined {
  const date = calendarDay(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
  return date === undefined ? undefined : { date, at: match.index, end: endOf(match) };
}

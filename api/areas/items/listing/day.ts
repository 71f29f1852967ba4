import type { Call } from '#kernel/endpoint.ts';

const days = new Map<string, { minute: number; day: string }>();

/** The caller's calendar day as `2026-03-29`, computed once a minute for each time zone. */
export function dayOf({ now, who }: Pick<Call, 'now' | 'who'>): string {
  const at = now.getTime();
  const minute = Math.floor(at / 60_000);
  const zone = who.timeZone ?? 'UTC';
  const known = days.get(zone);
  if (known?.minute === minute) return known.day;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  formats.set(zone, format);
  const day = format.format(at);
  days.set(zone, { minute, day });
  return day;
}

/** The calendar day before, also where a day has 23 or 25 hours. */
export function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}

/** Creating a format takes half a millisecond, so each time zone keeps one. */
const formats = new Map<string, Intl.DateTimeFormat>();

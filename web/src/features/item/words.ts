// Lengths, dates and sizes as people read them.
import type { ItemSummary } from 'foyer-client';
import { language } from '#core/messages/text.ts';
import * as m from '#messages/item.ts';

const MINUTE = 60_000;

/** Such as `1 h 52 min`; under a minute `24 s`. */
export function lengthText(ms: number): string {
  if (ms < MINUTE) return m.seconds({ seconds: Math.max(1, Math.round(ms / 1000)) });
  const minutes = Math.round(ms / MINUTE);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return m.minutes({ minutes: rest });
  return rest === 0 ? m.hours({ hours }) : m.hoursMinutes({ hours, minutes: rest });
}

/** Such as `1:02:03`, for places in a film. */
export function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, ...rest] = parts.map((one) => String(one).padStart(2, '0'));
  return (parts[0] === 0 ? rest : [hours, ...rest]).join(':').replace(/^0/, '');
}

let dates: Intl.DateTimeFormat | undefined;
export function dateText(iso: string): string {
  dates ??= new Intl.DateTimeFormat(language(), { dateStyle: 'medium', ...(iso.length === 10 && { timeZone: 'UTC' }) });
  return dates.format(new Date(iso));
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function bytesText(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const format = {
    style: 'unit',
    unit: UNITS[step],
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  } as const;
  return new Intl.NumberFormat(language(), format).format(bytes / 1000 ** step);
}

/** The title of an item's page, with the show of an episode. */
export const titleOf = ({
  title,
  grandparentTitle,
  parentTitle,
}: Pick<ItemSummary, 'title' | 'grandparentTitle' | 'parentTitle'>): string =>
  [title, grandparentTitle ?? parentTitle].filter(Boolean).join(' · ');

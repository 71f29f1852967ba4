// The hours in which heavy work may run, in a time zone.
import { z } from 'zod';

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Weekday = (typeof weekdays)[number];

const Clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);

/** What a person set of the window; the rest has the values of `windowOf`. */
export const StoredWindow = z.strictObject({
  enabled: z.boolean().optional(),
  days: z.array(z.enum(weekdays)).min(1).max(7).optional(),
  from: Clock.optional().meta({ example: '02:00' }),
  to: Clock.optional().describe('May be past midnight').meta({ example: '06:00' }),
  timeZone: z.string().max(60).optional().meta({ example: 'Europe/Berlin' }),
  yieldToStreaming: z.boolean().optional(),
  maxConcurrent: z.int().min(1).max(16).optional(),
  finishRunning: z.boolean().optional(),
});
export type StoredWindow = z.output<typeof StoredWindow>;

export interface Window {
  enabled: boolean;
  days: Weekday[];
  from: string;
  to: string;
  timeZone: string;
  yieldToStreaming: boolean;
  maxConcurrent: number;
  finishRunning: boolean;
}

export function windowOf(stored: StoredWindow, serverZone: string): Window {
  const usual = { enabled: true, days: [...weekdays], from: '02:00', to: '06:00', timeZone: serverZone };
  const given = Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== undefined));
  return { ...usual, yieldToStreaming: true, maxConcurrent: 2, finishRunning: true, ...given };
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
const DAY = 1440;

/** Length in minutes by the clock; equal ends are a whole day. */
export const lengthOf = ({ from, to }: Pick<Window, 'from' | 'to'>): number =>
  ((minutesOf(to) - minutesOf(from) + DAY - 1) % DAY) + 1;

const shapes = new Map<string, Intl.DateTimeFormat>();

function shapeOf(timeZone: string): Intl.DateTimeFormat {
  const known = shapes.get(timeZone);
  if (known) return known;
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const made = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', second: 'numeric', ...numeric });
  shapes.set(timeZone, made);
  return made;
}

export function isZone(timeZone: string): boolean {
  try {
    shapeOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** What the clocks of the zone show, as if it were UTC. */
function wall(at: number, timeZone: string): number {
  const parts = Object.fromEntries(
    shapeOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The moment at which clocks show this time: the first of two, and the next that exists for one that does not. */
function momentOf(shown: number, timeZone: string): number {
  const offsets = [shown - 86_400_000, shown + 86_400_000].map((at) => wall(at, timeZone) - at);
  const candidates = offsets.map((offset) => shown - offset).sort((a, b) => a - b);
  const exact = candidates.find((at) => wall(at, timeZone) === shown);
  if (exact !== undefined) return exact;
  // The clocks jumped over it: the jump itself is the next time that exists.
  let [low = shown, high = shown] = candidates;
  while (high - low > 60_000) {
    const middle = Math.floor((low + high) / 120_000) * 60_000;
    if (wall(middle, timeZone) < shown) low = middle;
    else high = middle;
  }
  return high;
}

export interface Opening {
  opensAt: Date;
  closesAt: Date;
}

/** The opening that holds now, else the next one; undefined while the window is switched off. */
export function openingAt(window: Window, now: Date): Opening | undefined {
  if (!window.enabled) return undefined;
  const today = Math.floor(wall(now.getTime(), window.timeZone) / 86_400_000);
  const openings: Opening[] = [];
  for (let day = today - 2; day <= today + 8; day += 1) {
    const weekday = weekdays[(day + 3) % 7]; // day 0 was a Thursday
    if (!weekday || !window.days.includes(weekday)) continue;
    const starts = day * 86_400_000 + minutesOf(window.from) * 60_000;
    const opensAt = new Date(momentOf(starts, window.timeZone));
    const closesAt = new Date(momentOf(starts + lengthOf(window) * 60_000, window.timeZone));
    if (closesAt > now && closesAt > opensAt) openings.push({ opensAt, closesAt });
  }
  return openings[0];
}

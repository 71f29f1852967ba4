import { z } from 'zod';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

/** A window of the week; `to` not after `from` is on the next day. */
export const ViewingWindow = z.strictObject({
  days: z.array(z.enum(DAYS)).min(1).max(7),
  from: Clock.meta({ example: '16:00' }),
  to: Clock.meta({ example: '19:30' }),
});
export type ViewingWindow = z.output<typeof ViewingWindow>;

const DAY = 1440;
const WEEK = 7 * DAY;
const minutes = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

const clocks = new Map<string, Intl.DateTimeFormat>(); // one a zone, because creating a format is expensive

/** Day of the week (0 is Sunday) and minute of the day in the zone. */
function wall(at: Date, timeZone: string): { day: number; minute: number } {
  let parts = clocks.get(timeZone);
  if (!parts) {
    const shape = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    parts = new Intl.DateTimeFormat('en-US', { timeZone, ...shape });
    clocks.set(timeZone, parts);
  }
  const shown = Object.fromEntries(parts.formatToParts(at).map((part) => [part.type, part.value]));
  const day = DAYS.indexOf((shown.weekday ?? 'sun').toLowerCase() as (typeof DAYS)[number]);
  return { day, minute: minutes(`${shown.hour}:${shown.minute}`) };
}

/** Whether watching is allowed; no windows is always. Windows follow the local clock over daylight saving. */
export function mayWatch(windows: readonly ViewingWindow[], timeZone: string, at: Date): boolean {
  if (windows.length === 0) return true;
  const { day, minute } = wall(at, timeZone);
  return windows.some((window) => inside(window, day, minute));
}

function inside(window: ViewingWindow, day: number, minute: number): boolean {
  const from = minutes(window.from);
  const to = minutes(window.to);
  const on = (d: number): boolean => window.days.includes(DAYS[(d + 7) % 7] ?? 'sun');
  if (to > from) return on(day) && minute >= from && minute < to;
  return (on(day) && minute >= from) || (on(day - 1) && minute < to);
}

const NEVER: readonly ViewingWindow[] = [{ days: [], from: '00:00', to: '00:00' }];

/** Intersection of both; no windows is always. */
export function common(one: readonly ViewingWindow[], other: readonly ViewingWindow[]): readonly ViewingWindow[] {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const others = stretches(other);
  const found = stretches(one).flatMap((a) => others.flatMap((b) => shared(a, b)));
  return found.length > 0 ? found : NEVER;
}

/** Minutes of a week, with an exclusive end. */
interface Stretch {
  start: number;
  end: number;
}

function stretches(windows: readonly ViewingWindow[]): Stretch[] {
  return windows.flatMap(({ days, from, to }) => {
    const length = (minutes(to) - minutes(from) + DAY) % DAY || DAY;
    const starts = days.map((day) => DAYS.indexOf(day) * DAY + minutes(from));
    return starts.map((start) => ({ start, end: start + length }));
  });
}

/** Intersection of two stretches; one beyond the end of the week continues at its start. */
function shared(a: Stretch, b: Stretch): ViewingWindow[] {
  return [-WEEK, 0, WEEK].flatMap((by) => {
    const start = Math.max(a.start, b.start + by);
    const end = Math.min(a.end, b.end + by);
    const day = DAYS[Math.floor(start / DAY) % 7];
    return start < end && day ? [{ days: [day], from: clock(start), to: clock(end) }] : [];
  });
}

function clock(minute: number): string {
  const [hour, rest] = [Math.floor((minute % DAY) / 60), minute % 60];
  return `${String(hour).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

/** Whether two windows cover the same minute of a week. */
export function overlaps(windows: readonly ViewingWindow[]): boolean {
  const taken = windows.flatMap((window) => window.days.flatMap((day) => minutesOfWeek(window, DAYS.indexOf(day))));
  return new Set(taken).size < taken.length;
}

function minutesOfWeek({ from, to }: ViewingWindow, day: number): number[] {
  const start = minutes(from);
  const length = (minutes(to) - start + DAY) % DAY || DAY;
  return Array.from({ length }, (_, minute) => (day * DAY + start + minute) % WEEK);
}

/** The next minute at which watching is allowed, within a week; null when there is none. */
export function resumesAt(windows: readonly ViewingWindow[], timeZone: string, at: Date): Date | null {
  return nextMinute({ windows, timeZone, open: true }, at);
}

/** The next minute at which watching is no longer allowed, within a week; null when there is none. */
export function closesAt(windows: readonly ViewingWindow[], timeZone: string, at: Date): Date | null {
  return windows.length === 0 ? null : nextMinute({ windows, timeZone, open: false }, at);
}

interface Sought {
  windows: readonly ViewingWindow[];
  timeZone: string;
  open: boolean;
}

function nextMinute({ windows, timeZone, open }: Sought, at: Date): Date | null {
  const edges = windows.flatMap(({ from, to }) => [minutes(from), minutes(to)]);
  const start = Math.ceil(at.getTime() / 60_000) * 60_000;
  const after = (ahead: number): Date => new Date(start + ahead * 60_000);
  for (let ahead = 0; ahead <= 8 * DAY; ) {
    const { day, minute } = wall(after(ahead), timeZone);
    if (windows.some((window) => inside(window, day, minute)) === open) return after(ahead);
    const later = edges.filter((edge) => edge > minute);
    const jump = Math.min(DAY - minute, ...later.map((edge) => edge - minute));
    const landed = wall(after(ahead + jump), timeZone);
    ahead += landed.minute === (minute + jump) % DAY ? jump : 1; // the clock changes on the way: go minute by minute
  }
  return null;
}

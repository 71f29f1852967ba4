// The days that each list covers.
import type { Days } from '#platform/agents/listed-title.ts';

const DAY_MS = 86_400_000;

/** YYYY-MM-DD of so many days after a moment. */
export const dayAfter = (now: Date, days: number): string =>
  new Date(now.getTime() + days * DAY_MS).toISOString().slice(0, 10);

/** In cinemas: releases of the last 8 weeks, and those of the next 6 months. */
export const cinemaDays = (now: Date): { now: Days; upcoming: Days } => ({
  now: { from: dayAfter(now, -56), to: dayAfter(now, 0) },
  upcoming: { from: dayAfter(now, 1), to: dayAfter(now, 183) },
});

/** On disc: releases of the last 90 and the next 180 days. */
export const discDays = (now: Date): { new: Days; upcoming: Days } => ({
  new: { from: dayAfter(now, -90), to: dayAfter(now, 0) },
  upcoming: { from: dayAfter(now, 1), to: dayAfter(now, 180) },
});

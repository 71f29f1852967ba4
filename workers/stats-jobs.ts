import { countContent, trimPlays } from '#areas/stats/public.ts';
import type { Work } from './work.ts';

/** Job stats.rollup: counts what the server holds. */
export async function rollUpStats(_payload: unknown, { db }: Work): Promise<void> {
  await countContent(db);
}

/** Job stats.trim: entries past their days, and addresses after 30 days. */
export async function trimStats(_payload: unknown, { db, settings }: Work): Promise<void> {
  await trimPlays(db, settings.get('stats.keepDays'));
}

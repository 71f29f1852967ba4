import { invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

const MOST_DAYS = 1100;
const USUAL_DAYS = 30;

export interface Span {
  /** Days in the time zone, both included. */
  from: string;
  to: string;
  timeZone: string;
  start: Date;
  /** Exclusive. */
  end: Date;
  /** Start of the span of equal length before. */
  before: Date;
}

/** The days of a request as moments. Throws 400 for a reversed span, a later day than today and more than 1,100 days. */
export async function spanOf(
  db: Db,
  { from, to }: { from?: string | undefined; to?: string | undefined },
  timeZone: string,
): Promise<Span> {
  const [row] = await rowsOf<{
    today: string;
    first: string;
    last: string;
    days: number;
    start: Date;
    end: Date;
    before: Date;
  }>(
    db,
    `with given as (select (now() at time zone :zone)::date as today, cast(:from as date) as f, cast(:to as date) as t),
       days as (select today, coalesce(f, coalesce(t, today) - ${USUAL_DAYS - 1}) as first, coalesce(t, today) as last from given)
     select today::text, first::text, last::text, last - first + 1 as days,
            first::timestamp at time zone :zone as start, (last + 1)::timestamp at time zone :zone as end,
            (first - (last - first + 1))::timestamp at time zone :zone as before from days`,
    { zone: timeZone, from: from ?? null, to: to ?? null } as never,
  );
  if (!row) throw new Error('no row');
  const named = to === undefined ? 'from' : 'to';
  if (row.last > row.today || row.first > row.today) throw invalid(['query', named], 'too_late', 'a day after today');
  if (row.days < 1) throw invalid(['query', named], 'reversed', 'the last day is before the first');
  if (row.days > MOST_DAYS) throw invalid(['query', 'from'], 'too_long', `at most ${MOST_DAYS} days`);
  return { from: row.first, to: row.last, timeZone, start: row.start, end: row.end, before: row.before };
}

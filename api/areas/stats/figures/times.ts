// Groups of times. The moments at which days, weeks and months of a zone begin are few and read once: a sum is put between them by a
// binary search, while its own local time would cost more than to add it up.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Span } from '../span.ts';
import { type Grouping, timeGroups } from '../stats.schemas.ts';

type TimeGroup = (typeof timeGroups)[number];

/** A time of the span: its key, and where it begins; undefined for an hour of the day and a day of the week. */
export interface Time {
  key: string;
  at?: Date;
}

export const isTime = (grouping: Grouping): grouping is TimeGroup =>
  (timeGroups as readonly string[]).includes(grouping);

/** Every time of the span, in order. */
export async function timesOf(db: Db, span: Span, grouping: TimeGroup): Promise<Time[]> {
  if (grouping === 'hour') return Array.from({ length: 24 }, (_, hour) => ({ key: String(hour).padStart(2, '0') }));
  if (grouping === 'weekday') return Array.from({ length: 7 }, (_, day) => ({ key: String(day + 1) }));
  const shape = grouping === 'month' ? 'YYYY-MM' : 'YYYY-MM-DD';
  // A midnight that comes twice, as the clock is set back, begins with the first one.
  return rowsOf<Required<Time>>(
    db,
    `select to_char(t, :shape) as key,
            case when (m - interval '1 hour') at time zone :zone >= t then m - interval '1 hour' else m end as at
       from generate_series(date_trunc(:unit, cast(:from as timestamp)), cast(:to as timestamp), cast(:step as interval)) t,
         lateral (select t at time zone :zone as m) moment
      order by t`,
    {
      ...{ shape, unit: grouping, step: `1 ${grouping}` },
      ...{ from: span.from, to: span.to, zone: span.timeZone },
    } as never,
  );
}

/** The key of a sum among these times, and how it becomes text. */
export function timeKey(
  grouping: TimeGroup,
  times: readonly Time[],
  zone: string,
): { sql: string; bindings: unknown[]; text: (column: string) => string } {
  const local = 's.at at time zone ?';
  if (grouping === 'hour')
    return {
      sql: `extract(hour from ${local})`,
      bindings: [zone],
      text: (column) => `lpad(${column}::text, 2, '0')`,
    };
  if (grouping === 'weekday')
    return { sql: `extract(isodow from ${local})`, bindings: [zone], text: (column) => `${column}::text` };
  return {
    sql: 'width_bucket(s.at, ?::timestamptz[])',
    bindings: [times.map(({ at }) => at?.toISOString())],
    text: (column) => `('{${times.map(({ key }) => key).join()}}'::text[])[${column}]`, // written by Postgres itself
  };
}

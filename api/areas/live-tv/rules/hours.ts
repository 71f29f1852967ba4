// The days and hours in which a programme begins, by the clocks of the server's time zone.
import type { Knex } from 'knex';
import { DAYS } from './rules.schemas.ts';
import type { RuleRow } from './rules.store.ts';

type Hours = Pick<RuleRow, 'days' | 'from_time' | 'to_time'>;

/**
 * Restricts a query over `guide_programs as p`. Hours that end before they begin reach over midnight, and belong to the day on
 * which they begin. Clocks decide: an hour that they show twice counts twice.
 */
export function onlyInHours(
  query: Knex.QueryBuilder,
  { days, from_time: from, to_time: to }: Hours,
  zone: string,
): void {
  const clock = `date_trunc('minute', p.start_at at time zone ?)`;
  const isOverMidnight = from !== null && to !== null && to < from;
  if (isOverMidnight)
    void query.whereRaw(`(${clock}::time >= ?::time or ${clock}::time <= ?::time)`, [zone, from, zone, to]);
  else {
    if (from !== null) void query.whereRaw(`${clock}::time >= ?::time`, [zone, from]);
    if (to !== null) void query.whereRaw(`${clock}::time <= ?::time`, [zone, to]);
  }
  if (days.length === 0) return;
  const numbers = DAYS.flatMap((day, at) => (days.includes(day) ? [at + 1] : []));
  const begun = isOverMidnight ? `case when ${clock}::time <= ?::time then 1 else 0 end` : '0';
  const bindings = isOverMidnight ? [zone, zone, to] : [zone];
  void query.whereRaw(`extract(isodow from ${clock} - make_interval(days => ${begun}))::int = any(?::int[])`, [
    ...bindings,
    numbers,
  ] as never);
}

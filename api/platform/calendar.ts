/**
 * The day that a text in ISO 8601 begins with, if the calendar has it: `2020-02-31` and days of the year 0 do not exist,
 * and Postgres refuses them.
 */
export function calendarDay(text: string | undefined): string | undefined {
  const day = text === undefined ? undefined : /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0];
  if (day === undefined || day.startsWith('0000')) return undefined;
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === day ? day : undefined;
}

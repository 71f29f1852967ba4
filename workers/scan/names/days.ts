/** The date if it exists in the calendar: `2020-02-31` does not. */
export function calendarDay(text: string | undefined): string | undefined {
  const day = text === undefined ? undefined : /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0];
  const time = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day || day === '0000-00-00'
    ? undefined
    : day;
}

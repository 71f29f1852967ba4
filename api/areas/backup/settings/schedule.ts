import { Cron } from 'croner';

/** The first time after `since`, in the server's time zone; undefined if there is none. */
export function nextRun(pattern: string, since: Date, timeZone: string): Date | undefined {
  try {
    return new Cron(pattern, { paused: true, timezone: timeZone, mode: '5-part' }).nextRun(since) ?? undefined;
  } catch {
    return undefined;
  }
}

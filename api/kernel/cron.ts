import { Cron } from 'croner';
import { z } from 'zod';

/** A cron schedule of five fields, such as `30 3 * * *`. */
export const CronText = z
  .string()
  .max(100)
  .refine(isCron, { error: 'five cron fields', params: { code: 'bad_cron' } })
  .describe("Five fields, in the server's time zone");

function isCron(text: string): boolean {
  try {
    new Cron(text, { paused: true, mode: '5-part' });
    return true;
  } catch {
    return false;
  }
}

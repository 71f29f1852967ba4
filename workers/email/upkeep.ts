import { writeDigests } from '#areas/email/messages/digest.store.ts';
import { overdueMails, trimMails } from '#areas/email/messages/messages.store.ts';
import { mailReady, queueMail } from '#areas/email/public.ts';
import type { Work } from '../work.ts';

export interface Setting {
  clock?: () => Date;
}

const BATCH = 200;

/** Job email.digest, hourly: sends digests whose local hour has come, and requeues mails whose job was lost. */
export function createDigests({ clock = () => new Date() }: Setting = {}) {
  return async (_payload: unknown, { db, settings, signal }: Work): Promise<void> => {
    for (const mail of await overdueMails(db, clock())) await queueMail(db, mail);
    if (!mailReady({ settings }) || !settings.get('email.digest.enabled')) return;
    const now = clock();
    let written: number;
    do {
      signal.throwIfAborted();
      written = await writeDigests(db, settings, now);
    } while (written === BATCH);
  };
}

/** Job logs.trim: deletes expired logs. */
export async function trimLogs(_payload: unknown, { db }: Work): Promise<void> {
  await trimMails(db, new Date());
}

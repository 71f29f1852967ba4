import { sweep } from '#areas/notifications/notifications.store.ts';
import { BATCH, type Notice, notifyProfiles, receiversOf } from '#areas/notifications/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from '../work.ts';

/** Job notification.fanout: 500 receivers in a transaction, together with the checkpoint. */
export async function fanOut({ notice }: JobPayload<'notification.fanout'>, work: Work): Promise<void> {
  const parsed = notice as Notice;
  let after = (work.checkpoint as { after?: string } | null)?.after;
  for (;;) {
    work.signal.throwIfAborted();
    const receivers = await receiversOf(work.db, parsed, { after, limit: BATCH });
    after = receivers.at(-1);
    if (after === undefined) return;
    const at = after;
    await work.db.transaction(async (transaction) => {
      await notifyProfiles(transaction, parsed, receivers);
      await work.keep(transaction, { after: at });
    });
  }
}

/** Job notification.sweep. */
export async function sweepNotifications(_payload: unknown, { db }: Work): Promise<void> {
  await sweep(db);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { findDueSources, takeDueReminders } from '#areas/live-tv/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { enqueue } from '#platform/queue.ts';
import type { WorkerDeps } from '#workers/work.ts';

const EVERY_MS = 5000;

/** Enqueues refreshes that are due, and sends reminders; ends with the signal. */
export async function keepGuides(deps: Pick<WorkerDeps, 'db' | 'log'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await Promise.all([enqueueRefreshes(deps), sendReminders(deps)]).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'guides were not looked after'),
    );
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A source with a job that waits, also for its next attempt, is left alone. */
export async function enqueueRefreshes({ db }: Pick<WorkerDeps, 'db'>): Promise<void> {
  for (const { id, name } of await findDueSources(db))
    await enqueue(db, 'live.guide', {
      payload: { sourceId: id },
      options: {
        ...{ key: `live.guide:${id}`, cause: 'schedule', priority: 60 },
        target: { kind: 'guide-source', id, title: name },
      },
    });
}

/** Each in a transaction with its notification, so that none is lost or sent twice. */
export async function sendReminders({ db }: Pick<WorkerDeps, 'db'>): Promise<void> {
  await db.transaction(async (tx) => {
    for (const due of await takeDueReminders(tx))
      await notify(tx, {
        ...{ kind: 'live-reminder', to: { profileIds: [due.profileId] }, itemId: due.channelId },
        ...{ target: { kind: 'program', id: due.programId }, data: { name: due.title, channel: due.channel } },
        ...{ url: `/live/guide?program=${due.programId}`, expiresAt: due.endAt },
      });
  });
}

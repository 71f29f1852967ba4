import { setTimeout as sleep } from 'node:timers/promises';
import { isPlanDue } from '#areas/live-tv/public.ts';
import { enqueue } from '#platform/queue.ts';
import type { WorkerDeps } from '#workers/work.ts';

const EVERY_MS = 2500;

/** Enqueues the job that makes the plan: soon after a change, and each minute. Ends with the signal. */
export async function keepScheduled({ db, log }: Pick<WorkerDeps, 'db' | 'log'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await enqueueWhenDue(db).catch((error: unknown) => log.warn({ err: error }, 'recordings were not planned'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function enqueueWhenDue(db: WorkerDeps['db']): Promise<void> {
  if (!(await isPlanDue(db))) return;
  await enqueue(db, 'live.schedule', {
    payload: {},
    options: { key: 'live.schedule', cause: 'schedule', priority: 20 },
  });
}

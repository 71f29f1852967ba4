import { setTimeout as sleep } from 'node:timers/promises';
import { enqueue } from '#platform/queue.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { isTrimDue } from './trim.ts';

const EVERY_MS = 60_000;

/** Enqueues the clean-up of recordings when one is due, each minute. Ends with the signal. */
export async function keepRecordingsTrimmed(
  { db, log }: Pick<WorkerDeps, 'db' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await enqueueWhenDue(db).catch((error: unknown) => log.warn({ err: error }, 'recordings were not trimmed'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function enqueueWhenDue(db: WorkerDeps['db']): Promise<void> {
  if (!(await isTrimDue(db))) return;
  await enqueue(db, 'live.trim', {
    payload: { recordings: true },
    options: { key: 'live.trim:recordings', cause: 'schedule' },
  });
}

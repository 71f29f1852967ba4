import { setTimeout as sleep } from 'node:timers/promises';
import { settleLost } from '#areas/backup/public.ts';
import { settleClips } from '#areas/streaming/public.ts';
import { giveBackLost } from '#areas/subtitles/public.ts';
import type { Db } from '#platform/db.ts';
import type { JobName } from '#platform/jobs.ts';
import type { Log } from '#platform/log.ts';
import { restoreTasks } from '#platform/queue.ts';
import { settleScans } from './scan/engine/record.ts';

const EVERY_MS = 60_000;

/**
 * Ends the rows of a kind of job: those of the job that has just ended, or, without an id, of all jobs of the kind that
 * ended or were deleted. Otherwise such a row would look as if it were running for ever.
 */
type Settle = (db: Db, jobId?: string) => Promise<void>;

const settlers: Partial<Record<JobName, Settle>> = {
  'library.scan': settleScans,
  'backup.create': (db) => settleLost(db),
  'preroll.prepare': (db) => settleClips(db),
  'subtitles.sync': giveBackLost,
};

/** Ends the rows of a job in the transaction that ends the job. */
export async function settleJob(db: Db, job: { id: string; kind: JobName }): Promise<void> {
  await settlers[job.kind]?.(db, job.id);
}

/**
 * At the start of a worker and each minute, in one worker at a time: ends rows that look running but have no live job.
 */
export async function keepSettled(db: Db, log: Log, signal: AbortSignal): Promise<void> {
  for (let isStart = true; !signal.aborted; ) {
    const looked = await db
      .transaction((transaction) => settleOnce(transaction, isStart))
      .catch((error: Error) => {
        log.warn({ err: error.message }, 'rows of ended jobs not settled');
        return false;
      });
    if (looked) isStart = false;
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** One round; false while another worker runs it. At a start, jobs also get missing tasks back. */
export async function settleOnce(db: Db, isStart: boolean): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { got: boolean }[] }>(
    `select pg_try_advisory_xact_lock(hashtext('foyer.settle')) as got`,
  );
  if (!rows[0]?.got) return false;
  if (isStart) await restoreTasks(db);
  for (const settle of Object.values(settlers)) await settle(db);
  return true;
}

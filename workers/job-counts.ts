import { setTimeout as sleep } from 'node:timers/promises';
import { compactCounts } from '#areas/jobs/jobs.store.ts';
import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';

const EVERY_MS = 60_000;

/** Compacts the rollup of jobs, in one worker at a time. */
export async function sweepJobCounts(db: Db, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await db
      .transaction(async (transaction) => {
        const { rows } = await transaction.raw<{ rows: { got: boolean }[] }>(
          `select pg_try_advisory_xact_lock(hashtext('foyer.job-counts')) as got`,
        );
        if (rows[0]?.got) await compactCounts(transaction);
      })
      .catch((error: Error) => log.warn({ err: error.message }, 'counts of jobs not compacted'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

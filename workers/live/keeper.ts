import { setTimeout as sleep } from 'node:timers/promises';
import { requestScan } from '#areas/live-tv/public.ts';
import type { Db } from '#platform/db.ts';
import type { WorkerDeps } from '../work.ts';

const EVERY_MS = 30_000;

/** Queues the scans of tuners that are due; ends with the signal. */
export async function keepTunersScanned({ db, log }: WorkerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await queueDueScans(db).catch((error: Error) =>
      log.warn({ err: error.message }, 'scans of tuners were not queued'),
    );
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** One round. A tuner whose job waits, runs or failed just now is left alone. */
export async function queueDueScans(db: Db): Promise<number> {
  const due = await db('live_tuners')
    .where({ enabled: true })
    .where('next_scan_at', '<=', new Date())
    .whereRaw(
      `not exists (select from jobs j where j.key = 'live.scan:' || live_tuners.id and j.state in ('waiting', 'delayed', 'active'))`,
    )
    .select('id', 'name', 'library_id');
  for (const row of due) await db.transaction((tx) => requestScan(tx, row, { cause: 'schedule' }));
  return due.length;
}

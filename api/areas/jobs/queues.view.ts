import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { countPools } from '#platform/queue.ts';
import type { QueueStatus } from './jobs.schemas.ts';
import { countQueues, type QueueRow } from './jobs.store.ts';

const WINDOW_MINUTES = 10;

/** How each queue stands. Every worker serves every queue. */
export async function queueStatuses({ db, deps }: Call): Promise<QueueStatus[]> {
  const [rows, pools] = await Promise.all([countQueues(db), countPools(db)]);
  const { settings, config } = deps;
  const paused = settings.get('jobs.paused');
  return rows.map((row) => {
    const concurrency = settings.get(`jobs.concurrency.${row.queue}`) ?? config.workerConcurrency;
    return toStatus(row, { pools, concurrency, paused: paused.includes(row.queue) });
  });
}

interface Standing {
  pools: number;
  concurrency: number;
  /** By a person, in the settings. */
  paused: boolean;
}

function toStatus(row: QueueRow, { pools, concurrency, paused }: Standing): QueueStatus {
  const { queue, waiting, delayed, active, failed, completed, ended, oldest } = row;
  const perMinute = ended / WINDOW_MINUTES;
  return {
    ...{ queue, waiting, delayed, active, failed, completed, perMinute, concurrency },
    ...(oldest && { oldestWaitingAt: iso(oldest) }),
    ...(waiting > 0 && perMinute > 0 && { drainMs: Math.round((waiting / perMinute) * 60_000) }),
    workers: pools,
    paused,
    ...(paused ? { pausedFor: 'person' as const } : pools === 0 && { pausedFor: 'no-worker' as const }),
  };
}

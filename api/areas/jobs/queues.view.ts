import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { Queue } from '#platform/jobs.ts';
import { isStreaming, placesOf, YIELDING } from '#platform/lanes.ts';
import { countPools } from '#platform/queue.ts';
import type { JobDetail, QueueStatus } from './jobs.schemas.ts';
import { countActive, countQueues, type QueueRow } from './jobs.store.ts';

const WINDOW_MINUTES = 10;

/** What blocks queues now. */
export interface Standing {
  pools: number;
  streaming: boolean;
  paused: readonly Queue[];
}

export async function standingNow({ db, deps }: Call): Promise<Standing> {
  const [pools, streaming] = await Promise.all([countPools(db), isStreaming(db)]);
  return { pools, streaming, paused: deps.settings.get('jobs.paused') };
}

const yields = ({ streaming }: Standing, queue: Queue): boolean => streaming && YIELDING.includes(queue);

/** Status of every queue. Each worker serves all queues. */
export async function queueStatuses(call: Call, standing: Standing): Promise<QueueStatus[]> {
  const rows = await countQueues(call.db);
  return rows.map((row) => ({ ...toStatus(row, standing), concurrency: placesOf(row.queue, call.deps) }));
}

function toStatus(row: QueueRow, standing: Standing): Omit<QueueStatus, 'concurrency'> {
  const { queue, waiting, delayed, active, failed, completed, ended, oldest } = row;
  const perMinute = ended / WINDOW_MINUTES;
  const pausedFor = whyStill(queue, standing);
  return {
    ...{ queue, waiting, delayed, active, failed, completed, perMinute },
    ...(oldest && { oldestWaitingAt: iso(oldest) }),
    ...(waiting > 0 && perMinute > 0 && { drainMs: Math.round((waiting / perMinute) * 60_000) }),
    workers: standing.pools,
    paused: standing.paused.includes(queue),
    ...(pausedFor && { pausedFor }),
  };
}

function whyStill(queue: Queue, standing: Standing): QueueStatus['pausedFor'] {
  if (standing.paused.includes(queue)) return 'person';
  if (standing.pools === 0) return 'no-worker';
  return yields(standing, queue) ? 'streaming' : undefined;
}

/** What the runnable jobs of a queue wait for: a pause, streaming, or a free slot in a worker. */
export async function waitsOf(
  { db, deps }: Call,
  standing: Standing,
): Promise<(queue: Queue) => JobDetail['waitsFor']> {
  const active = await countActive(db);
  const isFull = (queue: Queue): boolean => (active.get(queue) ?? 0) >= placesOf(queue, deps) * standing.pools;
  return (queue) => {
    if (standing.paused.includes(queue)) return 'pause';
    if (yields(standing, queue)) return 'streaming';
    return standing.pools > 0 && isFull(queue) ? 'slot' : undefined;
  };
}

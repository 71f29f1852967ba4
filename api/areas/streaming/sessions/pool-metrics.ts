import { Gauge, type Registry, register } from 'prom-client';
import type { Db } from '#platform/db.ts';
import type { Redis } from '#platform/redis.ts';
import { liveWorkers, type WorkerReport } from './offers.store.ts';
import { countSlots } from './sessions.store.ts';

/** One gauge, its series as [labels, value]. */
interface Series {
  name: string;
  help: string;
  of: (seen: Seen) => [Record<string, string>, number][];
}

interface Seen {
  /** Undefined while Postgres is away. */
  demand: { used: number; waiting: number } | undefined;
  /** Undefined while Redis is away. */
  workers: WorkerReport[] | undefined;
}

const single = (value: number | undefined): [Record<string, string>, number][] =>
  value === undefined ? [] : [[{}, value]];

const eachWorker =
  (read: (worker: WorkerReport) => number): Series['of'] =>
  ({ workers = [] }) =>
    workers.map((worker) => {
      const { pod, encoder, gpu } = worker;
      return [{ pod, encoder, gpu: String(gpu) }, read(worker)];
    });

const idleSeconds = ({ idleSince }: WorkerReport): number =>
  idleSince === null ? 0 : Math.max(0, (Date.now() - idleSince) / 1000);

const SERIES: readonly Series[] = [
  {
    name: 'foyer_transcode_waiting',
    help: 'Transcode sessions that wait for a worker.',
    of: ({ demand }) => single(demand?.waiting),
  },
  {
    name: 'foyer_transcode_sessions',
    help: 'Transcode sessions that a worker holds.',
    of: ({ demand }) => single(demand?.used),
  },
  {
    name: 'foyer_transcode_workers',
    help: 'Transcode workers that reported within 10 seconds.',
    of: ({ workers }) => single(workers?.length),
  },
  {
    name: 'foyer_transcode_worker_slots',
    help: 'Sessions that the worker can serve.',
    of: eachWorker(({ slots }) => slots),
  },
  {
    name: 'foyer_transcode_worker_sessions',
    help: 'Sessions that the worker serves.',
    of: eachWorker(({ used }) => used),
  },
  {
    name: 'foyer_transcode_worker_idle_seconds',
    help: 'Seconds since the worker serves nobody; 0 while it does.',
    of: eachWorker(idleSeconds),
  },
];

/**
 * Demand and supply of the transcode pool, read at each scrape: the operator sizes the pool by them. What a store that
 * is away would tell is left out, so that nobody takes silence for idleness.
 */
export function servePoolMetrics({ db, redis }: { db: Db; redis: Redis }, registry: Registry = register): void {
  const look = oncePerScrape(async () => {
    const demand = await countSlots(db).catch(() => undefined);
    return { demand, workers: await liveWorkers(redis) };
  });
  for (const { name, help, of } of SERIES) {
    new Gauge({
      name,
      help,
      labelNames: ['pod', 'encoder', 'gpu'],
      registers: [registry],
      async collect() {
        const seen = await look();
        this.reset();
        for (const [labels, value] of of(seen)) this.set(labels, value);
      },
    });
  }
}

/** The gauges of one scrape are collected at once: they share one look. */
function oncePerScrape<T>(look: () => Promise<T>): () => Promise<T> {
  let under: Promise<T> | undefined;
  return () => {
    under ??= look().finally(() => {
      under = undefined;
    });
    return under;
  };
}

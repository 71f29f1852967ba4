import { Gauge, type Registry, register } from 'prom-client';
import type { Db } from '#platform/db.ts';
import type { Redis } from '#platform/redis.ts';
import { liveWorkers, type WorkerReport } from './offers.store.ts';
import { countSlots } from './sessions.store.ts';

/** A gauge, and its series as [labels, value]. */
interface Series {
  name: string;
  help: string;
  of: (sample: Sample) => [Record<string, string>, number][];
}

interface Sample {
  /** Undefined while Postgres is unavailable. */
  demand: { used: number; waiting: number } | undefined;
  /** Undefined while Redis is unavailable. */
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
    help: 'Seconds since the worker became idle; 0 while it serves a session.',
    of: eachWorker(idleSeconds),
  },
];

/**
 * Demand and supply of the transcode pool, read at each scrape. The operator sizes the pool by them. Series of an
 * unavailable store are absent, so that an outage does not look like an idle pool.
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
        const sample = await look();
        this.reset();
        for (const [labels, value] of of(sample)) this.set(labels, value);
      },
    });
  }
}

/** The gauges of a scrape are collected concurrently and share one read. */
function oncePerScrape<T>(look: () => Promise<T>): () => Promise<T> {
  let under: Promise<T> | undefined;
  return () => {
    under ??= look().finally(() => {
      under = undefined;
    });
    return under;
  };
}

import { EventEmitter, once } from 'node:events';
import { Logger, parseCronItems, type Runner, run, type WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import { type JobName, type JobSpec, jobs, type Queue, queues } from '#platform/jobs.ts';
import { ALIVE, enqueue, taskOf } from '#platform/queue.ts';
import { runJob } from './run-job.ts';
import type { Handlers, WorkerDeps } from './work.ts';

const SWEEP_MS = 1000;

/** Lanes: interactive work and deliveries never wait behind a scan, nor a scan behind an analysis. */
const LANES: { queues: Queue[]; concurrency: (deps: WorkerDeps) => number }[] = [
  { queues: ['interactive', 'live'], concurrency: () => 4 },
  { queues: ['delivery'], concurrency: () => 20 }, // mostly waiting for others' servers
  { queues: ['scan'], concurrency: ({ settings }) => settings.get('scan.concurrent') },
  {
    queues: queues.filter((q) => !['interactive', 'delivery', 'live', 'scan'].includes(q)),
    concurrency: ({ config }) => Math.max(1, config.workerConcurrency - 2),
  },
];

const DEAD = `
  with holders as (select locked_by, min(locked_at) as since from graphile_worker.jobs where locked_by is not null group by 1),
       dead as (select locked_by from holders where since < now() - interval '2 seconds' -- a new pool needs time to take its lock
         and not exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 2
           and database = (select oid from pg_database where datname = current_database())
           and classid = ${ALIVE} and objid = (hashtext(locked_by)::bigint & 4294967295)::oid))
  select graphile_worker.force_unlock_workers(array_agg(locked_by)) from dead having count(*) > 0`;

const SCHEDULE = 'foyer.schedule';

/** Kinds that run by themselves; graphile-worker's cron fires each once in the whole deployment. */
const scheduled = Object.entries(jobs as Record<string, JobSpec>).flatMap(([kind, { scheduled: match }]) =>
  match ? [{ match, task: SCHEDULE, identifier: kind, payload: { kind } }] : [],
);

export interface Runtime {
  /** Gives back what runs (it goes on elsewhere from its checkpoint) and ends. */
  stop(): Promise<void>;
}

/**
 * Runs jobs until stopped. A killed worker's jobs are taken over within 2 seconds: each pool holds an advisory lock on a
 * connection of its own, and every worker looks each second for jobs whose holder has none. `lost` is called when this
 * process loses that connection: others take its jobs then, so it must end.
 */
export async function startRuntime(deps: WorkerDeps, handlers: Handlers, lost: () => void): Promise<Runtime> {
  const pool = new pg.Pool({ connectionString: deps.config.databaseUrl, max: 24, application_name: 'foyer-worker' });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const alive = new pg.Client({
    connectionString: deps.config.databaseUrl,
    keepAlive: true,
    application_name: 'foyer-worker-alive',
    options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
  });
  let stopping = false;
  alive.on('error', () => undefined);
  alive.on('end', () => stopping || lost());
  await alive.connect();
  const stop = new AbortController();
  const runners: Runner[] = [];
  for (const lane of LANES) runners.push(await startLane({ lane, pool, alive, deps, handlers, stop: stop.signal }));
  let sweeping = false; // one query at a time on this connection
  const sweep = setInterval(() => {
    if (sweeping) return;
    sweeping = true;
    void alive
      .query(DEAD)
      .catch(() => undefined)
      .finally(() => {
        sweeping = false;
      });
  }, SWEEP_MS);
  return {
    async stop() {
      stopping = true;
      clearInterval(sweep);
      stop.abort('stopping');
      await Promise.all(runners.map((runner) => runner.stop()));
      await alive.end();
      await pool.end();
    },
  };
}

interface Lane {
  lane: (typeof LANES)[number];
  pool: pg.Pool;
  alive: pg.Client;
  deps: WorkerDeps;
  handlers: Handlers;
  stop: AbortSignal;
}

async function startLane({ lane, pool, alive, deps, handlers, stop }: Lane): Promise<Runner> {
  const events: WorkerEvents = new EventEmitter();
  const created = once(events, 'pool:create') as Promise<[{ workerPool: { id: string } }]>;
  const task = async (payload: unknown): Promise<void> => {
    await runJob((payload as { id: string }).id, { deps, handlers, stop });
  };
  const schedule = async (payload: unknown): Promise<void> => {
    const { kind } = payload as { kind: JobName };
    await enqueue(deps.db, kind, { payload: {} as never, options: { key: kind, cause: 'schedule' } });
  };
  const keepsTime = lane === LANES[0];
  const runner = await run({
    pgPool: pool,
    events,
    concurrency: lane.concurrency(deps),
    pollInterval: 2000,
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => deps.log.debug({ level }, message)),
    parsedCronItems: parseCronItems(keepsTime ? scheduled : []),
    gracefulShutdownAbortTimeout: 15_000,
    taskList: {
      ...Object.fromEntries(lane.queues.map((queue) => [taskOf(queue), task])),
      ...(keepsTime && { [SCHEDULE]: schedule }),
    },
  });
  const [{ workerPool }] = await created;
  await alive.query('select pg_advisory_lock($1, hashtext($2))', [ALIVE, workerPool.id]);
  return runner;
}

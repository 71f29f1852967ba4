import { EventEmitter, once } from 'node:events';
import { Logger, parseCronItems, type Runner, run, type Task, type WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import { tick } from '#areas/maintenance/public.ts';
import { FencedClient } from '#platform/fence.ts';
import type { Queue } from '#platform/jobs.ts';
import { LANES, STREAMING } from '#platform/lanes.ts';
import { ALIVE, addTask } from '#platform/queue.ts';
import { Lane } from './lanes.ts';
import { Hours } from './maintenance.ts';
import { runJob } from './run-job.ts';
import { Suspects } from './suspects.ts';
import type { Handlers, WorkerDeps } from './work.ts';

const SWEEP_MS = 1000;
const CANCELLED = 'foyer_jobs_cancelled';

const DEAD = `
  with holders as (select locked_by, min(locked_at) as since from graphile_worker.jobs where locked_by is not null group by 1),
       dead as (select locked_by from holders where since < now() - interval '2 seconds' -- a new pool needs time to take its lock
         and not exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 2
           and database = (select oid from pg_database where datname = current_database())
           and classid = ${ALIVE} and objid = (hashtext(locked_by)::bigint & 4294967295)::oid))
  select graphile_worker.force_unlock_workers(array_agg(locked_by)) from dead having count(*) > 0`;

const SCHEDULE = 'foyer.schedule';
/** graphile-worker needs a task even while every queue of a lane is closed. */
const NOTHING = 'foyer.nothing';

/** graphile-worker's cron runs it once a minute in the whole deployment; it starts the tasks of Maintenance that are due. */
const EACH_MINUTE = [{ match: '* * * * *', task: SCHEDULE, identifier: 'maintenance' }];

export interface Runtime {
  /** Releases running jobs, which resume elsewhere from their checkpoints, and ends. */
  stop(): Promise<void>;
}

/**
 * Runs jobs until stopped. Jobs of a killed worker are taken over within 2 seconds: each pool holds an advisory lock on
 * a connection of its own, and every worker checks each second for jobs whose lock is free. `lost` is called when this
 * process loses that connection: others take its jobs then, so it must end.
 */
export async function startRuntime(deps: WorkerDeps, handlers: Handlers, lost: () => void): Promise<Runtime> {
  const pool = poolOf(deps);
  const alive = lifeline(deps);
  let stopping = false;
  alive.on('error', () => undefined);
  alive.on('end', () => stopping || lost());
  const running = await heardOn(alive);
  const stop = new AbortController();
  const runners: Runner[] = [];
  let streaming = false;
  const hours = new Hours();
  const look = async (): Promise<void> => {
    await hours.look(alive, deps.settings.get('server.timeZone'));
    streaming = hours.yields && ((await alive.query<{ streaming: boolean }>(STREAMING)).rows[0]?.streaming ?? false);
  };
  await look();
  const setting = { pool, alive, deps, hours, handlers, stop: stop.signal, running, suspects: new Suspects() };
  const lanes = LANES.map((spec, number) => {
    const lane = new Lane(spec, deps, () => streaming);
    return { ...setting, lane, keepsTime: number === 0, width: 0 };
  });
  const widen = async (): Promise<void> => {
    for (const lane of lanes) if (lane.lane.width > lane.width) runners.push(await startRunner(lane));
  };
  await widen();
  let sweeping: Promise<void> | undefined; // one query at a time on this connection
  const sweep = setInterval(() => {
    sweeping ??= alive
      .query(DEAD)
      .then(look)
      .then(widen)
      .catch(() => undefined)
      .finally(() => {
        sweeping = undefined;
      });
  }, SWEEP_MS);
  return {
    async stop() {
      stopping = true;
      clearInterval(sweep);
      stop.abort('stopping');
      await sweeping;
      await Promise.all(runners.map((runner) => runner.stop()));
      await alive.end();
      await pool.end();
    },
  };
}

/** The pool of graphile-worker; its connections are refused after an exchange of the database. */
function poolOf({ config }: WorkerDeps): pg.Pool {
  const pool = new pg.Pool({
    connectionString: config.databaseUrl,
    max: 24,
    application_name: 'foyer-worker',
    Client: FencedClient,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** The connection whose lock shows that this process is alive. */
function lifeline({ config }: WorkerDeps): pg.Client {
  return new FencedClient({
    connectionString: config.databaseUrl,
    keepAlive: true,
    application_name: 'foyer-worker-alive',
    options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
  });
}

/** Connects it; returns the map of running jobs, which are called when they are cancelled. */
async function heardOn(alive: pg.Client): Promise<Map<string, () => void>> {
  const running = new Map<string, () => void>();
  alive.on('notification', ({ payload = '' }) => running.get(payload)?.());
  await alive.connect();
  await alive.query(`listen ${CANCELLED}`);
  return running;
}

interface Running {
  lane: Lane;
  /** The first runner of the first lane also queues scheduled jobs. */
  keepsTime: boolean;
  /** Workers of all its runners; it only grows, and the lane limits how many find work. */
  width: number;
  pool: pg.Pool;
  alive: pg.Client;
  deps: WorkerDeps;
  hours: Hours;
  handlers: Handlers;
  stop: AbortSignal;
  /** Jobs that run in this process. */
  running: Map<string, () => void>;
  suspects: Suspects;
}

/** Adds workers for the part of the lane's width that has none yet. */
async function startRunner(running: Running): Promise<Runner> {
  const { lane, pool, alive, deps } = running;
  const events: WorkerEvents = new EventEmitter();
  const created = once(events, 'pool:create') as Promise<[{ workerPool: { id: string } }]>;
  const schedule: Task = async () => {
    await tick(deps.db, deps.settings.get('server.timeZone'));
  };
  const keepsTime = running.keepsTime && running.width === 0;
  const concurrency = lane.width - running.width;
  running.width = lane.width;
  const runner = await run({
    pgPool: pool,
    events,
    concurrency,
    pollInterval: 2000,
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => deps.log.debug({ level }, message)),
    parsedCronItems: parseCronItems(keepsTime ? EACH_MINUTE : []),
    gracefulShutdownAbortTimeout: 15_000,
    taskList: lane.tasks((queue) => taskFor(queue, running), { [running.keepsTime ? SCHEDULE : NOTHING]: schedule }),
  });
  const [{ workerPool }] = await created;
  await alive.query('select pg_advisory_lock($1, hashtext($2))', [ALIVE, workerPool.id]);
  return runner;
}

/** Runs a job of the queue; if the queue closed after the job was taken, the job is requeued. */
function taskFor(queue: Queue, { lane, deps, hours, handlers, stop, running, suspects }: Running): Task {
  return async (payload, { job }) => {
    const { id } = payload as { id: string };
    if (!lane.isOpen(queue)) {
      await addTask(deps.db, { id, queue, priority: job.priority, runAt: job.run_at });
      return;
    }
    const paused = (): boolean => lane.isStill(queue);
    await lane.hold(queue, () => runJob(id, { deps, hours, handlers, stop, paused, running, suspects }));
  };
}

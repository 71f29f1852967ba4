import type { Db } from './db.ts';
import { newId } from './ids.ts';
import { type EnqueueOptions, type JobName, type JobPayload, type JobSpec, jobs, type Queue } from './jobs.ts';

/** The graphile-worker task of a queue; it carries the id of a row of `jobs`, which describes the work. */
export const taskOf = (queue: Queue): string => `foyer.${queue}`;

/**
 * Writes a job row and its task in the caller's transaction: neither exists without the other. While a job waits under
 * the same key, returns its id and adds nothing.
 */
export async function enqueue<N extends JobName>(
  db: Db,
  name: N,
  { payload, options = {} }: { payload: JobPayload<N>; options?: EnqueueOptions },
): Promise<string> {
  const spec = jobs[name];
  const checked = spec.payload.parse(payload);
  const id = newId();
  const { runAt, byAccountId, libraryId, target, parentId, maxAttempts, ...own } = options;
  const row = {
    priority: 50,
    cause: 'system' as const,
    queue: spec.queue,
    ...own,
    id,
    kind: name,
    state: runAt ? ('delayed' as const) : ('waiting' as const),
    payload: JSON.stringify(checked),
    target: target && JSON.stringify(target),
    by_account_id: byAccountId,
    library_id: libraryId,
    parent_id: parentId,
    max_attempts: maxAttempts ?? 5,
    run_at: runAt,
  };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const added = await db('jobs')
      .insert(row)
      .onConflict(db.raw(`(key) where key is not null and state in ('waiting', 'delayed')`))
      .ignore()
      .returning('id');
    const waiting = added.length === 0 ? await waitingUnder(db, options.key ?? '') : undefined;
    if (waiting) return waiting;
    if (added.length === 0) continue;
    await addTask(db, { id, queue: row.queue, priority: row.priority, runAt });
    return id;
  }
  throw new Error(`job ${options.key} started each time it was read`);
}

const TRIES = 5; // the conflicting job may start before it is read

async function waitingUnder(db: Db, key: string): Promise<string | undefined> {
  const found = await db('jobs').where({ key }).whereIn('state', ['waiting', 'delayed']).first('id');
  return found?.id;
}

export interface Task {
  id: string;
  queue: Queue;
  priority: number;
  runAt?: Date | undefined;
}

/** The task of a job row. Attempts are counted in the row; graphile-worker's own limit is only a safety net. */
export async function addTask(db: Db, job: Task): Promise<void> {
  await db.raw(
    'select graphile_worker.add_job(?, payload := ?::json, run_at := ?, priority := ?, max_attempts := ?, job_key := ?)',
    [taskOf(job.queue), JSON.stringify({ id: job.id }), job.runAt ?? null, job.priority, 1000, job.id],
  );
}

/** A job that waits, for its window or after a failure, runs now because a person requests it. */
export async function startNow(
  db: Db,
  job: { id: string; state: string; queue: string; priority: number },
): Promise<void> {
  if (job.state === 'active') return;
  await db('jobs').where({ id: job.id }).update({ cause: 'person', state: 'waiting', run_at: null, waits_for: null });
  await addTask(db, { id: job.id, queue: job.queue as Queue, priority: job.priority });
}

/** Kinds that no worker runs. */
const APART = Object.entries(jobs as Record<string, JobSpec>).flatMap(([kind, { apart }]) => (apart ? [kind] : []));

/** Adds missing tasks of unfinished jobs, which would otherwise wait for ever. */
export async function restoreTasks(db: Db): Promise<void> {
  const { rows } = await db.raw<{ rows: { id: string; queue: Queue; priority: number; run_at: Date | null }[] }>(
    `select id, queue, priority, run_at from jobs j where state in ('waiting', 'delayed', 'active')
       and not kind = any(?) and not exists (select from graphile_worker.jobs g where g.key = j.id::text) limit 10000`,
    [APART],
  );
  for (const { id, queue, priority, run_at } of rows)
    await addTask(db, { id, queue, priority, runAt: run_at ?? undefined });
}

/** The job made progress, so workers lost before no longer count against it. */
export async function forgetLosses(db: Db, jobId: string): Promise<void> {
  await db('jobs').where({ id: jobId }).where('losses', '>', 0).update({ losses: 0 });
}

/** Class id of the advisory locks that mark running worker pools. */
export const ALIVE = 4711;
const POOLS = `select count(*)::int from pg_locks where locktype = 'advisory' and granted and objsubid = 2 and classid = ${ALIVE}
  and database = (select oid from pg_database where datname = current_database())`; // other databases of the server have their own
const URGENT: readonly Queue[] = ['interactive', 'delivery'];

/**
 * Down without a worker; degraded when work that users wait for did not start within a minute. Paused queues do not
 * count.
 */
export async function queueHealth(db: Db, paused: readonly Queue[]): Promise<'ok' | 'degraded' | 'down'> {
  const { rows } = await db.raw<{ rows: { pools: number; late: boolean }[] }>(
    `select (${POOLS}) as pools,
            exists (select from graphile_worker.jobs where locked_at is null and run_at < now() - interval '1 minute'
              and attempts < max_attempts and task_identifier = any(?)) as late`,
    [URGENT.filter((queue) => !paused.includes(queue)).map(taskOf)],
  );
  const [seen] = rows;
  if (!seen?.pools) return 'down';
  return seen.late ? 'degraded' : 'ok';
}

/** Number of running worker pools; each process has one for every lane. */
export async function countPools(db: Db): Promise<number> {
  const { rows } = await db.raw<{ rows: { pools: number }[] }>(`select (${POOLS}) as pools`);
  return rows[0]?.pools ?? 0;
}

/** Requests the worker of a job to stop it. */
export async function requestCancel(db: Db, jobId: string): Promise<void> {
  await db('jobs').where({ id: jobId }).update({ cancel_requested: true });
}

/** Cancels the jobs of a kind for a library: waiting ones now, a running one at its next checkpoint. */
export async function requestCancelOf(db: Db, kind: JobName, libraryId: string): Promise<void> {
  await db.raw(
    `update jobs set cancel_requested = true, updated_at = now(),
       state = case when state = 'active' then state else 'cancelled' end,
       finished_at = case when state = 'active' then null else now() end
     where kind = ? and library_id = ? and state in ('waiting', 'delayed', 'active')`,
    [kind, libraryId],
  );
}

/** Cancels a job that no worker has started. */
export async function cancelUnstarted(db: Db, jobId: string | null, now: Date): Promise<void> {
  await db('jobs')
    .where({ id: jobId })
    .whereIn('state', ['waiting', 'delayed'])
    .update({ state: 'cancelled', cancel_requested: true, finished_at: now, updated_at: now });
}

/** Records the progress of a running job: its phase and the finished share, 0 to 1. */
export async function recordProgress(db: Db, jobId: string, at: { phase: string; progress: number }): Promise<void> {
  await db('jobs')
    .where({ id: jobId, state: 'active' })
    .update({ ...at, updated_at: new Date() });
}

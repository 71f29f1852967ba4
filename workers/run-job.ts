import { noteRun } from '#areas/maintenance/public.ts';
import { breaks, type Db } from '#platform/db.ts';
import { type JobName, jobs } from '#platform/jobs.ts';
import { jobSeconds } from '#platform/metrics.ts';
import { emit } from '#platform/outbox.ts';
import { addTask, enqueue } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';
import { beginAttempt, endAttempt } from './attempts.ts';
import { isReported, notifyFailed } from './failures.ts';
import { type Hours, outside, refuseOutside } from './maintenance.ts';
import { settleJob } from './settle.ts';
import type { Suspects } from './suspects.ts';
import {
  FinalFailure,
  type Handler,
  type Handlers,
  Postponed,
  type Units,
  type Work,
  type WorkerDeps,
} from './work.ts';

const FREE_LOSSES = 3; // losses without progress that cost no attempt; further ones count, because the job may crash its workers
const CANCEL_LOOK_MS = 2000;
/** Errors may contain paths, addresses with credentials, or output of tools: only the log contains them. */
const HIDDEN_ERROR = { code: 'INTERNAL', message: 'It failed; the log of its worker says why' };

type JobRow = Row<'jobs'> & { kind: JobName };

interface Setting {
  deps: WorkerDeps;
  /** The window of scheduled jobs. */
  hours: Hours;
  handlers: Handlers;
  stop: AbortSignal;
  /** True while the job's queue is paused: the job ends at its next checkpoint and continues later. */
  paused: () => boolean;
  /** Jobs that run here, by id, with the function that cancels each. */
  running: Map<string, () => void>;
  suspects: Suspects;
}

/** One attempt. The row is the record and decides about retries; graphile-worker only delivers it. */
export async function runJob(id: string, setting: Setting): Promise<void> {
  const cancel = new AbortController();
  setting.running.set(id, () => cancel.abort('cancelled')); // before it is active, because it may be cancelled from then on
  try {
    if (await wasLost(setting.deps, id))
      await setting.suspects.run((cleared) => beginAndAttempt(id, setting, { cancel, cleared }));
    else await beginAndAttempt(id, setting, { cancel, cleared: () => undefined });
  } finally {
    setting.running.delete(id);
  }
}

/** Read before the job begins, because a job that waits for another suspect has not lost a further worker. */
async function wasLost({ db }: WorkerDeps, id: string): Promise<boolean> {
  return (await db('jobs').where({ id, state: 'active' }).first('id')) !== undefined;
}

async function beginAndAttempt(id: string, setting: Setting, hooks: Hooks): Promise<void> {
  const job = await begin(setting.deps, id);
  if (job) await attempt(job, setting, hooks);
}

interface Hooks {
  cancel: AbortController;
  /** Called at each checkpoint: the job makes progress, so it is not the one that crashes workers. */
  cleared: () => void;
}

async function attempt(job: JobRow, { deps, hours, handlers, stop, paused }: Setting, hooks: Hooks): Promise<void> {
  const { cancel, cleared } = hooks;
  const { id } = job;
  const signal = AbortSignal.any([stop, cancel.signal]);
  // Cancellations arrive by notification; polled too, in case that connection hangs.
  const look = setInterval(() => {
    if (!hours.finishes && hours.closedUntil(job)) cancel.abort('closed');
    void cancelled(deps, id).then((requested) => requested && cancel.abort('cancelled'));
  }, CANCEL_LOOK_MS);
  const began = performance.now();
  let outcome = 'completed';
  try {
    const payload = jobs[job.kind].payload.parse(job.payload) as never;
    const handle = handlers[job.kind] as Handler<JobName>;
    refuseOutside(hours, job);
    const kept = (): void => {
      cleared();
      if (paused()) cancel.abort('paused');
      if (hours.closedUntil(job)) cancel.abort('closed');
    };
    const result = await handle(payload, workFor(job, { deps, signal, kept }));
    await finish(deps, job, {
      state: 'completed',
      progress: 1,
      result: result === undefined ? null : JSON.stringify(result),
    });
  } catch (error) {
    const reason = signal.aborted ? String(signal.reason) : undefined;
    outcome = await afterFailure(job, { deps, error: reason === 'closed' ? outside(hours, job) : error, reason });
  } finally {
    clearInterval(look);
    jobSeconds.observe({ kind: job.kind, outcome }, (performance.now() - began) / 1000);
  }
}

async function begin({ db, config, log }: WorkerDeps, id: string): Promise<JobRow | undefined> {
  return db.transaction(async (transaction) => {
    const row = await transaction('jobs').where({ id }).forUpdate().first<JobRow | undefined>();
    if (!row || !['waiting', 'delayed', 'active'].includes(row.state)) return undefined;
    const wasLost = row.state === 'active';
    if (row.cancel_requested) {
      await transaction('jobs')
        .where({ id })
        .update({ state: 'cancelled', ...ended() });
      await endAttempt(transaction, id, { outcome: 'lost' });
      await settleJob(transaction, row);
      return undefined;
    }
    if (wasLost && row.losses >= FREE_LOSSES) {
      const error = JSON.stringify({ code: 'INTERNAL', reason: 'worker-lost', message: 'Its worker died each time' });
      await transaction('jobs')
        .where({ id })
        .update({ state: 'failed', error, ...ended() });
      await endAttempt(transaction, id, { outcome: 'lost' });
      const failures = await noteRun(transaction, { ...row, state: 'failed', error });
      if (isReported(row, failures)) await notifyFailed(transaction, row);
      await settleJob(transaction, row);
      log.warn({ job: id, kind: row.kind }, 'job given up: its worker died each time');
      return undefined;
    }
    const change = wasLost ? { losses: row.losses + 1 } : { attempts: row.attempts + 1 };
    const now = new Date();
    await transaction('jobs')
      .where({ id })
      .update({
        ...change,
        state: 'active',
        started_at: now,
        updated_at: now,
        run_at: null,
        waits_for: null,
        worker: config.pod,
        worker_node: config.node,
      });
    await beginAttempt(transaction, id, config);
    return { ...row, ...change };
  });
}

async function cancelled({ db }: WorkerDeps, id: string): Promise<boolean> {
  const row = await db('jobs')
    .where({ id })
    .first('cancel_requested')
    .catch(() => undefined);
  return row?.cancel_requested ?? false;
}

interface Attempt {
  deps: WorkerDeps;
  signal: AbortSignal;
  /** Called after each checkpoint. */
  kept: () => void;
}

function workFor(job: JobRow, { deps, signal, kept }: Attempt): Work {
  return {
    ...deps,
    log: deps.log.child({ job: job.id, kind: job.kind }),
    jobId: job.id,
    attempt: job.attempts,
    signal,
    checkpoint: job.checkpoint,
    keep: async (db, checkpoint, units) => {
      await db('jobs')
        .where({ id: job.id })
        .update({
          checkpoint: JSON.stringify(checkpoint),
          losses: 0,
          updated_at: new Date(),
          ...(units && columnsOf(units)),
        });
      kept();
    },
    report: async (db, units) => {
      await db('jobs')
        .where({ id: job.id, state: 'active' })
        .update({ updated_at: new Date(), ...columnsOf(units) });
    },
    emit,
    enqueue,
  };
}

const columnsOf = ({ done, total, unit }: Units): object => ({
  done_units: done,
  total_units: total ?? null,
  unit,
  ...(total !== undefined && { progress: total === 0 ? 0 : Math.min(1, done / total) }),
});

/** // The time makes the end visible to clients that poll for changes. */
const ended = (now = new Date()) => ({ finished_at: now, updated_at: now });

async function finish({ db }: WorkerDeps, job: Pick<JobRow, 'id' | 'kind' | 'cause'>, change: Finish): Promise<void> {
  const { id } = job;
  await db.transaction(async (transaction) => {
    await transaction('jobs')
      .where({ id })
      .update({ ...change, ...ended() });
    const { state: outcome, error } = change;
    await endAttempt(transaction, id, { outcome, ...(error !== undefined && { error }) });
    if (outcome !== 'completed') await settleJob(transaction, job);
    const failures = await noteRun(transaction, { ...job, state: outcome, error });
    if (outcome === 'failed' && isReported(job, failures)) await notifyFailed(transaction, job);
  });
}

interface Finish {
  state: 'completed' | 'failed' | 'cancelled';
  progress?: number;
  result?: string | null;
  error?: string;
}

interface Failure {
  deps: WorkerDeps;
  error: unknown;
  reason: string | undefined;
}

/**
 * Records the outcome of the attempt. A job whose process stops or whose queue was paused is requeued without using an
 * attempt.
 */
async function afterFailure(job: JobRow, { deps, error, reason }: Failure): Promise<string> {
  const { log } = deps;
  if (reason === 'cancelled' || (await cancelled(deps, job.id))) {
    await finish(deps, job, { state: 'cancelled' });
    return 'cancelled';
  }
  if (reason === 'stopping' || reason === 'paused') {
    await again(deps, job, { state: 'waiting', attempts: Math.max(0, job.attempts - 1), outcome: 'yielded' });
    return 'yielded';
  }
  if (error instanceof Postponed) {
    const attempts = Math.max(0, job.attempts - 1);
    const waits = { run_at: error.runAt, waits_for: error.waitsFor ?? null };
    await again(deps, job, { state: 'delayed', attempts, ...waits, outcome: 'postponed' });
    return 'postponed';
  }
  log.warn({ err: error, job: job.id, kind: job.kind, attempt: job.attempts }, 'job failed');
  const failure = JSON.stringify(
    error instanceof FinalFailure ? { code: error.code, message: error.message.slice(0, 300) } : HIDDEN_ERROR,
  );
  if (error instanceof FinalFailure || job.attempts >= job.max_attempts) {
    await finish(deps, job, { state: 'failed', error: failure });
    return 'failed';
  }
  const runAt = new Date(Date.now() + backoffMs(job.attempts));
  await again(deps, job, { state: 'delayed', run_at: runAt, error: failure, outcome: 'failed' });
  return 'failed';
}

/** 10 s doubling to an hour, with jitter. */
function backoffMs(attempts: number): number {
  return Math.min(3_600_000, 10_000 * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2);
}

interface Again {
  state: 'waiting' | 'delayed';
  run_at?: Date;
  waits_for?: Row<'jobs'>['waits_for'];
  attempts?: number;
  error?: string;
  /** A postponed job has not begun, so it leaves no attempt. */
  outcome: 'yielded' | 'failed' | 'postponed';
}

async function again({ db }: WorkerDeps, job: JobRow, change: Again): Promise<void> {
  try {
    await db.transaction((transaction) => putBack(transaction, job, { ...change, key: job.key }));
  } catch (error) {
    if (!breaks(error, 'jobs_key')) throw error;
    // An equal job waits under the key already, so this one releases it.
    await db.transaction((transaction) => putBack(transaction, job, { ...change, key: null }));
  }
}

async function putBack(db: Db, job: JobRow, { outcome, ...change }: Again & { key: string | null }): Promise<void> {
  await db('jobs')
    .where({ id: job.id })
    .update({ ...change, updated_at: new Date() });
  if (outcome === 'postponed') await db('job_attempts').where({ job_id: job.id, finished_at: null }).delete();
  else await endAttempt(db, job.id, { outcome, ...(change.error !== undefined && { error: change.error }) });
  await addTask(db, { id: job.id, queue: job.queue, priority: job.priority, runAt: change.run_at });
}

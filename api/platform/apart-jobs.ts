// Jobs that a process of its own runs: listed and cancelled like others, but without a task of graphile-worker.
import type { Db } from './db.ts';
import { type JobSpec, jobs } from './jobs.ts';

/** Kinds of jobs that run apart. */
export type ApartKind = {
  [N in keyof typeof jobs]: (typeof jobs)[N] extends { apart: true } ? N : never;
}[keyof typeof jobs];

export interface ApartJob {
  id: string;
  kind: ApartKind;
  byAccountId?: string | undefined;
  libraryId?: string | undefined;
  target?: { kind: string; id: string };
  parentId?: string | undefined;
}

const AT_ONCE = 1000;

/** Records waiting jobs in the transaction that requests their work. */
export async function addApart(db: Db, added: readonly ApartJob[]): Promise<void> {
  for (let from = 0; from < added.length; from += AT_ONCE) {
    const rows = added.slice(from, from + AT_ONCE).map(({ id, kind, target, ...job }) => ({
      ...{ id, kind, queue: (jobs[kind] satisfies JobSpec).queue, cause: 'person' as const },
      ...{ by_account_id: job.byAccountId ?? null, library_id: job.libraryId ?? null, parent_id: job.parentId ?? null },
      target: target ? JSON.stringify(target) : null,
    }));
    await db('jobs').insert(rows);
  }
}

export interface ApartChange {
  state?: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled';
  /** 0 to 1. */
  progress?: number;
  /** The worker that begins an attempt. */
  worker?: string;
  error?: { code: string; reason?: string };
}

const ENDED = ['completed', 'failed', 'cancelled'];

/** Records how far a job is. An ended one stays as it is. */
export async function changeApart(db: Db, id: string, change: ApartChange): Promise<void> {
  const { state, progress, worker, error } = change;
  await db('jobs')
    .where({ id })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .update({
      ...{ state, progress, worker, updated_at: db.fn.now() },
      ...(error && { error: JSON.stringify(error) }),
      ...(state === 'active' && { started_at: db.raw('coalesce(started_at, now())') }),
      ...(worker !== undefined && { attempts: db.raw('attempts + 1') }),
      ...(state && ENDED.includes(state) && { finished_at: db.fn.now() }),
    });
}

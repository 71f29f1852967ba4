import type { Db } from '#platform/db.ts';
import type { Update } from '#platform/typed-query.ts';
import type { WorkerDeps } from './work.ts';

/** Starts the attempt in the row; an unfinished earlier one was lost with its worker. */
export async function beginAttempt(db: Db, id: string, { pod, node }: WorkerDeps['config']): Promise<void> {
  await endAttempt(db, id, { outcome: 'lost' });
  await db.raw(
    `insert into job_attempts (job_id, number, started_at, pod, node)
     select ?, coalesce(max(number), 0) + 1, now(), ?, ? from job_attempts where job_id = ?`,
    [id, pod, node, id],
  );
}

export async function endAttempt(
  db: Db,
  id: string,
  end: Pick<Update<'job_attempts'>, 'outcome' | 'error'>,
): Promise<void> {
  await db('job_attempts')
    .where({ job_id: id })
    .whereNull('finished_at')
    .update({ ...end, finished_at: new Date() });
}

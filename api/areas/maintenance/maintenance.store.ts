import { type Db, existing } from '#platform/db.ts';
import { nextRunOf, scheduleOf } from '#platform/maintenance/next-run.ts';
import { isTask, type TaskId, type Trigger, taskIds } from '#platform/maintenance/tasks.ts';
import { type StoredWindow, type Window, windowOf } from '#platform/maintenance/window.ts';
import { enqueue, startNow } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'maintenance.window': StoredWindow;
    'maintenance_tasks.trigger': Trigger;
    'maintenance_tasks.last_error': { code: string; message?: string };
    'maintenance_tasks.last_summary': Record<string, number>;
  }
}

export type TaskRow = Row<'maintenance_tasks'>;
export type HoldRow = Row<'maintenance'>;

/** Locks the window and with it all tasks until the transaction ends. */
export async function lockMaintenance(db: Db): Promise<HoldRow> {
  return existing(await db('maintenance').forUpdate().first());
}

export async function readMaintenance(db: Db): Promise<HoldRow> {
  return existing(await db('maintenance').first());
}

/** Rows of all tasks; a task without one has its usual schedule. */
export async function readTasks(db: Db): Promise<Map<TaskId, TaskRow>> {
  const rows = await db('maintenance_tasks').select('*');
  return new Map(rows.flatMap((row) => (isTask(row.id) ? [[row.id, row] as const] : [])));
}

/** Inserts missing tasks with their next run after now. */
export async function prepareTasks(db: Db, window: Window, now: Date): Promise<void> {
  const usual = { trigger: null, cron: null, every_ms: null };
  const rows = taskIds.map((id) => ({ id, next_run_at: nextRunOf(scheduleOf(id, usual), window, now) ?? null }));
  await db('maintenance_tasks').insert(rows).onConflict('id').ignore();
}

/** Starts a task, unless it waits or runs already. Returns its job. */
export async function startTask(
  db: Db,
  id: TaskId,
  { cause, byAccountId }: { cause: 'person' | 'schedule'; byAccountId?: string },
): Promise<string> {
  const running = await db('jobs')
    .where({ kind: id, key: id })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .first('id', 'state', 'queue', 'priority');
  if (running && cause === 'person') await startNow(db, running);
  if (running) return running.id;
  const jobId = await enqueue(db, id, {
    payload: {} as never,
    options: { key: id, cause, ...(byAccountId !== undefined && { byAccountId }) },
  });
  await db('maintenance_tasks')
    .where({ id })
    .update({ last_job_id: jobId, last_state: 'running', last_started_at: db.fn.now(), last_finished_at: null });
  return jobId;
}

/** The time of Postgres, which alone decides which tasks are due. */
export async function clockOf(db: Db): Promise<Date> {
  const { rows } = await db.raw<{ rows: { now: Date }[] }>('select now() as now');
  return rows[0]?.now ?? new Date();
}

/** Records the end of a run of a task. Returns how often in a row it failed. */
export async function noteRun(
  db: Db,
  {
    id,
    kind,
    state,
    error,
  }: { id: string; kind: string; state: 'completed' | 'failed' | 'cancelled'; error?: string | undefined },
): Promise<number> {
  const weight = 0.3;
  const took = `extract(epoch from now() - last_started_at) * 1000`;
  const [row] = await db('maintenance_tasks')
    .where({ id: kind, last_job_id: id })
    .update({
      last_state: state,
      last_finished_at: db.fn.now(),
      last_error: error ?? null,
      failures: state === 'failed' ? db.raw('failures + 1') : 0,
      ...(state === 'completed' && {
        average_ms: db.raw(`case when average_ms is null then ${took} else average_ms * ? + ${took} * ? end`, [
          1 - weight,
          weight,
        ]),
        each_ms: db.raw(
          `coalesce(${took} / (select nullif(j.done_units, 0) from jobs j where j.id = maintenance_tasks.last_job_id), each_ms)`,
        ),
      }),
    })
    .returning('failures');
  return row?.failures ?? 0;
}

export interface WindowNow {
  window: Window;
  hold: HoldRow;
}

export async function windowNow(db: Db, serverZone: string): Promise<WindowNow> {
  const hold = await readMaintenance(db);
  return { hold, window: windowOf(hold.window, serverZone) };
}

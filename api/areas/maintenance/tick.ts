// Once a minute in the whole deployment: starts the tasks that are due.
import type { Db } from '#platform/db.ts';
import { nextRunOf, scheduleOf } from '#platform/maintenance/next-run.ts';
import { type TaskId, taskIds } from '#platform/maintenance/tasks.ts';
import { openingAt, type Window, windowOf } from '#platform/maintenance/window.ts';
import { clockOf, lockMaintenance, prepareTasks, readTasks, startTask, type TaskRow } from './maintenance.store.ts';

/** A run that was missed by more is passed over. */
const MADE_UP_MS = 12 * 3_600_000;

interface Turn {
  db: Db;
  window: Window;
  now: Date;
  /** Runs of the window that may still begin. */
  places: number;
}

/** Returns the tasks that it started. `at` is for tests; the clock is that of Postgres. */
export async function tick(db: Db, serverZone: string, at?: Date): Promise<TaskId[]> {
  return db.transaction(async (transaction) => {
    const hold = await lockMaintenance(transaction);
    const now = at ?? (await clockOf(transaction));
    const window = windowOf(hold.window, serverZone);
    await prepareTasks(transaction, window, now);
    if (hold.hold_until && hold.hold_until > now) return [];
    const turn: Turn = {
      db: transaction,
      window,
      now,
      places: window.maxConcurrent - (await runningInWindow(transaction)),
    };
    const rows = await readTasks(transaction);
    const started: TaskId[] = [];
    for (const id of taskIds) {
      const row = rows.get(id);
      if (row && (await takeTurn(turn, id, row))) started.push(id);
    }
    return started;
  });
}

/** Unfinished runs of tasks whose trigger is the window. */
async function runningInWindow(db: Db): Promise<number> {
  const kinds = [...(await readTasks(db))].flatMap(([id, row]) =>
    scheduleOf(id, row).trigger === 'window' ? [id] : [],
  );
  const [row] = await db('jobs')
    .whereIn('kind', kinds)
    .where({ cause: 'schedule' })
    .whereNotNull('key')
    .whereIn('state', ['waiting', 'active'])
    .select<{ n: number }[]>(db.raw('count(*)::int as n'));
  return row?.n ?? 0;
}

async function takeTurn(turn: Turn, id: TaskId, row: TaskRow): Promise<boolean> {
  const { db, window, now } = turn;
  if (!row.enabled || !row.next_run_at || row.next_run_at > now) return false;
  const schedule = scheduleOf(id, row);
  const inWindow = schedule.trigger === 'window' && !row.moved;
  const opening = inWindow ? openingAt(window, now) : undefined;
  const isOpen = opening !== undefined && opening.opensAt <= now;
  const isLate = now.getTime() - row.next_run_at.getTime() > MADE_UP_MS;
  const runs = inWindow ? isOpen : !isLate;
  if (inWindow && isOpen && turn.places <= 0) return false; // waits for a place in this window
  const next = { next_run_at: nextRunOf(schedule, window, now) ?? null, moved: false };
  await db('maintenance_tasks')
    .where({ id })
    .update({
      ...next,
      ...(!runs && { last_state: 'skipped', last_started_at: now, last_finished_at: now, last_error: null }),
    });
  if (!runs) return false;
  if (inWindow) turn.places -= 1;
  await startTask(db, id, { cause: 'schedule' });
  return true;
}

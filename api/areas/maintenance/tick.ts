// Once a minute in the whole deployment: starts the tasks that are due.
import type { Db } from '#platform/db.ts';
import { nextRunOf, scheduleOf } from '#platform/maintenance/next-run.ts';
import { type TaskId, taskIds } from '#platform/maintenance/tasks.ts';
import { openingAt, type Window, windowOf } from '#platform/maintenance/window.ts';
import { clockOf, lockMaintenance, prepareTasks, readTasks, startTask, type TaskRow } from './maintenance.store.ts';
import { countPending } from './pending.ts';

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
    await countPending(transaction, now);
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

type Verdict = 'not due' | 'waits' | 'passed over' | 'runs';

function verdictOf({ window, now, places }: Turn, row: TaskRow, inWindow: boolean): Verdict {
  if (!row.enabled || !row.next_run_at || row.next_run_at > now) return 'not due';
  if (!inWindow) return now.getTime() - row.next_run_at.getTime() > MADE_UP_MS ? 'passed over' : 'runs';
  const opening = openingAt(window, now);
  if (!opening || opening.opensAt > now) return 'passed over';
  return places > 0 ? 'runs' : 'waits';
}

const SKIPPED = { last_state: 'skipped', last_error: null };

async function takeTurn(turn: Turn, id: TaskId, row: TaskRow): Promise<boolean> {
  const { db, window, now } = turn;
  const schedule = scheduleOf(id, row);
  const inWindow = schedule.trigger === 'window' && !row.moved;
  const verdict = verdictOf(turn, row, inWindow);
  if (verdict === 'not due' || verdict === 'waits') return false;
  const skipped = { ...SKIPPED, last_started_at: now, last_finished_at: now };
  await db('maintenance_tasks')
    .where({ id })
    .update({
      next_run_at: nextRunOf(schedule, window, now) ?? null,
      moved: false,
      ...(verdict === 'passed over' && skipped),
    });
  if (verdict === 'passed over') return false;
  if (inWindow) turn.places -= 1;
  await startTask(db, id, { cause: 'schedule' });
  return true;
}

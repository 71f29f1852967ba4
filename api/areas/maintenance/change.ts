import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, type Issue, invalidAll } from '#kernel/errors.ts';
import { nextOfCron, nextRunOf, scheduleOf } from '#platform/maintenance/next-run.ts';
import { isTask, specOf, type TaskId } from '#platform/maintenance/tasks.ts';
import { isZone, lengthOf, type Window, windowOf } from '#platform/maintenance/window.ts';
import type { MaintenanceChange, TaskChange } from './maintenance.schemas.ts';
import {
  clockOf,
  type HoldRow,
  lockMaintenance,
  prepareTasks,
  readTasks,
  startTask,
  type TaskRow,
} from './maintenance.store.ts';

const LEAST_MINUTES = 30;
const HOLD_MS = 86_400_000;

function windowIssues(window: Window): Issue[] {
  const path = (name: string) => ['body', 'window', name];
  return [
    ...(isZone(window.timeZone)
      ? []
      : [{ path: path('timeZone'), code: 'unknown_zone', message: 'no time zone has this name' }]),
    ...(lengthOf(window) >= LEAST_MINUTES
      ? []
      : [{ path: path('to'), code: 'too_short', message: `at least ${LEAST_MINUTES} minutes` }]),
  ];
}

function cronIssues(tasks: [TaskId, TaskChange][], window: Window, now: Date): Issue[] {
  return tasks.flatMap(([id, { cron }]) => {
    if (cron === undefined || nextOfCron(cron, window.timeZone, now)) return [];
    return [{ path: ['body', 'tasks', id, 'cron'], code: 'never', message: 'it never fires' }];
  });
}

/** Throws 409 when `If-Match` names another revision. */
function refuseStale({ headers }: Call, { revision }: HoldRow): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || /^"(\d+)[-"]/.exec(wanted)?.[1] === String(revision)) return;
  throw conflict('revision', 'It was changed meanwhile', { revision });
}

function refuseRequired(tasks: [TaskId, TaskChange][]): void {
  const required = tasks.filter(([id, { enabled }]) => enabled === false && specOf(id).required).map(([id]) => id);
  if (required.length > 0)
    throw conflict('task-required', 'This task keeps a promise and cannot be switched off', { tasks: required });
}

/** Applies a change as a whole. Throws 400, 409 `revision`, `task-required`. */
export async function changeMaintenance(call: Call, change: MaintenanceChange): Promise<void> {
  const { db, deps } = call;
  const row = await lockMaintenance(db);
  const now = await clockOf(db);
  const zone = deps.settings.get('server.timeZone');
  const stored = { ...row.window, ...change.window };
  const window = windowOf(stored, zone);
  const tasks = Object.entries(change.tasks ?? {}).flatMap(([id, one]) =>
    isTask(id) && one ? [[id, one] as [TaskId, TaskChange]] : [],
  );
  const faults = windowIssues(window);
  const issues = faults.length > 0 ? faults : cronIssues(tasks, window, now);
  if (issues.length > 0) throw invalidAll(issues);
  refuseStale(call, row);
  refuseRequired(tasks);
  await db('maintenance').update({
    window: JSON.stringify(stored),
    revision: db.raw('revision + 1'),
    ...(change.hold !== undefined && { hold_until: change.hold ? new Date(now.getTime() + HOLD_MS) : null }),
  });
  await prepareTasks(db, window, now);
  if (change.window) await replan(call, window, now);
  for (const [id, one] of tasks) await changeTask(call, { id, change: one, window, now });
  await announce(call, change);
}

async function announce(call: Call, change: MaintenanceChange): Promise<void> {
  const keys = [
    ...(change.window ? ['maintenance.window'] : []),
    ...(change.tasks || change.hold !== undefined ? ['maintenance.tasks'] : []),
  ];
  await audit(call, 'maintenance.changed', { ...change });
  if (keys.length > 0) await call.emit('settings.changed', { keys });
}

/** Plans again every task that no one moved: another window has other times. */
async function replan({ db }: Call, window: Window, now: Date): Promise<void> {
  for (const [id, row] of await readTasks(db))
    if (!row.moved)
      await db('maintenance_tasks')
        .where({ id })
        .update({ next_run_at: nextRunOf(scheduleOf(id, row), window, now) ?? null });
}

interface TaskTurn {
  id: TaskId;
  change: TaskChange;
  window: Window;
  now: Date;
}

/** Columns of a change of schedule; a cron or an interval alone is its trigger too. */
function columnsOf({ enabled, trigger, cron, everyMs }: TaskChange): Partial<TaskRow> {
  if (trigger === null) return { ...(enabled !== undefined && { enabled }), trigger: null, cron: null, every_ms: null };
  const implied = cron === undefined ? 'interval' : 'cron';
  const given = { enabled, cron, every_ms: everyMs, trigger };
  const columns = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const isTimed = cron !== undefined || everyMs !== undefined;
  return isTimed && trigger === undefined ? { ...columns, trigger: implied } : columns;
}

async function changeTask(call: Call, { id, change, window, now }: TaskTurn): Promise<void> {
  const { db, who } = call;
  const [row] = await db('maintenance_tasks')
    .where({ id })
    .update({ id, ...columnsOf(change) })
    .returning('*');
  if (!row) throw new Error('no row');
  const at = change.nextRunAt ? new Date(change.nextRunAt) : undefined;
  if (at && at <= now) return void (await startTask(db, id, { cause: 'person', byAccountId: who.accountId }));
  if (!at && row.moved && change.nextRunAt === undefined) return; // one run was moved, and stays there
  const next = at ?? nextRunOf(scheduleOf(id, row), window, now) ?? null;
  await db('maintenance_tasks')
    .where({ id })
    .update({ next_run_at: next, moved: at !== undefined });
}

import { readJob } from '#areas/jobs/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { isStreaming } from '#platform/lanes.ts';
import { nextRunOf, scheduleOf } from '#platform/maintenance/next-run.ts';
import { defaultTrigger, specOf, type TaskId, taskIds } from '#platform/maintenance/tasks.ts';
import { openingAt, type Window } from '#platform/maintenance/window.ts';
import type { Maintenance, MaintenanceTask, TaskRun } from './maintenance.schemas.ts';
import { clockOf, readTasks, type TaskRow, windowNow } from './maintenance.store.ts';

const UNTOUCHED = {
  ...{ enabled: true, trigger: null, cron: null, every_ms: null, next_run_at: null, average_ms: null },
  ...{ pending: null, each_ms: null },
  ...{ last_state: null, last_job_id: null, last_started_at: null, last_finished_at: null, last_error: null },
};
type Shown = Pick<TaskRow, keyof typeof UNTOUCHED>;

function lastRunOf(row: Shown): TaskRun | undefined {
  const { last_state: state, last_started_at: startedAt, last_finished_at: finishedAt, last_error: error } = row;
  if (!state || !startedAt) return undefined;
  return {
    ...(row.last_job_id && { jobId: row.last_job_id }),
    state: state as TaskRun['state'],
    startedAt: iso(startedAt),
    ...(finishedAt && {
      finishedAt: iso(finishedAt),
      durationMs: Math.max(0, finishedAt.getTime() - startedAt.getTime()),
    }),
    ...(error && { error: { code: error.code, reason: error.message ?? error.code } }),
  };
}

/** By the things that wait, where they are counted; else as long as runs take. */
function estimateOf({ pending, each_ms: each, average_ms: average }: Shown): number | undefined {
  if (pending === null) return average === null ? undefined : Math.round(average);
  if (pending === 0) return 0;
  return each === null ? undefined : Math.round(pending * each);
}

function waitingOf(row: Shown): Pick<MaintenanceTask, 'pending' | 'estimateMs'> {
  const estimateMs = estimateOf(row);
  return { ...(row.pending !== null && { pending: row.pending }), ...(estimateMs !== undefined && { estimateMs }) };
}

function toTask(id: TaskId, row: Shown, { window, now }: { window: Window; now: Date }): MaintenanceTask {
  const { name, description, group, required, needs = [] } = specOf(id);
  const { trigger, cron, everyMs } = scheduleOf(id, row);
  const next = row.next_run_at ?? nextRunOf({ trigger, cron, everyMs }, window, now);
  const lastRun = lastRunOf(row);
  return {
    id,
    name,
    description,
    group,
    enabled: row.enabled,
    canDisable: !required,
    trigger,
    ...(cron !== undefined && { cron }),
    ...(everyMs !== undefined && { everyMs }),
    defaultTrigger: defaultTrigger(id),
    ...(next && row.enabled && { nextRunAt: iso(next) }),
    ...(lastRun && { lastRun }),
    ...(row.average_ms !== null && { averageMs: Math.round(row.average_ms) }),
    ...waitingOf(row),
    needs: [...needs],
  };
}

/** Unfinished jobs of tasks, of which the running ones are shown. */
async function jobsOf({ db }: Call): Promise<{ id: string; state: string }[]> {
  return db('jobs')
    .whereIn('kind', [...taskIds])
    .whereNotNull('key')
    .whereIn('state', ['active', 'waiting'])
    .select('id', 'state');
}

type Standing = Pick<Maintenance, 'state' | 'heldFor'>;

/** What holds maintenance back, or whether it works. */
async function standingOf(
  call: Call,
  { window, held, open, jobs }: { window: Window; held: boolean; open: boolean; jobs: { state: string }[] },
): Promise<Standing> {
  if (held) return { state: 'held', heldFor: 'person' };
  const waits = jobs.some(({ state }) => state === 'waiting');
  if (open && waits && window.yieldToStreaming && (await isStreaming(call.db)))
    return { state: 'held', heldFor: 'streaming' };
  return { state: jobs.some(({ state }) => state === 'active') ? 'working' : 'idle' };
}

export async function readMaintenanceNow(call: Call): Promise<Maintenance> {
  const { db, deps } = call;
  const { window, hold } = await windowNow(db, deps.settings.get('server.timeZone'));
  const now = await clockOf(db);
  const rows = await readTasks(db);
  const jobs = await jobsOf(call);
  const opening = openingAt(window, now);
  const open = opening !== undefined && opening.opensAt <= now;
  const held = hold.hold_until !== null && hold.hold_until > now;
  const active = jobs.filter(({ state }) => state === 'active');
  return {
    window,
    open,
    ...(opening && { opensAt: iso(opening.opensAt), closesAt: iso(opening.closesAt) }),
    ...(await standingOf(call, { window, held, open, jobs })),
    tasks: taskIds.map((id) => toTask(id, rows.get(id) ?? UNTOUCHED, { window, now })),
    running: await Promise.all(active.map(({ id }) => readJob(call, id))),
    revision: hold.revision,
  };
}

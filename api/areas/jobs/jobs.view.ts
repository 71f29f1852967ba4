import { z } from 'zod';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { Job, type JobDetail, type JobState } from './jobs.schemas.ts';
import { type AttemptRow, attemptsOf, childrenOf, type JobRow } from './jobs.store.ts';
import { type Standing, waitsOf } from './queues.view.ts';
import { isCancellable, isRetriable } from './rules.ts';

/** Jobs as the caller may see them: with the titles of visible items only. */
export async function toJobs(
  call: Call,
  rows: readonly JobRow[],
  { history, standing }: { history: boolean; standing: Standing },
): Promise<JobDetail[]> {
  const ids = rows.map(({ id }) => id);
  const [titles, children, waits, attempts] = await Promise.all([
    titlesOf(call, rows),
    childrenOf(call.db, ids),
    waitsOf(call, standing),
    history ? attemptsOf(call.db, ids) : [],
  ]);
  const waitsFor = ({ queue, state, waits_for: own }: JobRow): JobDetail['waitsFor'] => {
    if (state === 'delayed') return own ?? undefined;
    return state === 'waiting' ? waits(queue) : undefined;
  };
  return rows.map((row) => ({
    ...toJob(row, row.target ? titles.get(row.target.id) : undefined),
    ...(waitsFor(row) && { waitsFor: waitsFor(row) }),
    ...remaining(row),
    ...(children.has(row.id) && { children: totals(children.get(row.id) ?? {}) }),
    ...(history && { history: attempts.filter(({ job_id: job }) => job === row.id).map(toAttempt) }),
  }));
}

/** A job for the answer of the operation that queued it. */
export async function readJob(call: Call, id: string): Promise<Job> {
  const row = await call.db('jobs').where({ id }).first();
  if (!row) throw notFound();
  const titles = await titlesOf(call, [row]);
  return z.parse(Job, toJob(row, row.target ? titles.get(row.target.id) : undefined));
}

/** Estimated from the finished part, once there is one. */
function remaining({ state, progress, started_at: from, updated_at: at }: JobRow): Pick<JobDetail, 'remainingMs'> {
  if (state !== 'active' || !from || progress <= 0) return {};
  const elapsed = Math.max(0, at.getTime() - from.getTime());
  return { remainingMs: Math.round((elapsed * (1 - progress)) / progress) };
}

async function titlesOf({ db, who }: Call, rows: readonly JobRow[]): Promise<Map<string, string>> {
  const idsOf = (kind: string) => [
    ...new Set(rows.flatMap(({ target }) => (target?.kind === kind ? [target.id] : []))),
  ];
  const libraries = db('libraries').whereIn('id', idsOf('library')).modify(onlyVisibleLibraries, who);
  const items = db('items').whereIn('id', idsOf('item')).modify(onlyVisibleItems, who);
  const found = await Promise.all([
    libraries.select<{ id: string; title: string }[]>('id', 'name as title'),
    items.select('id', 'title'),
  ]);
  return new Map(found.flat().map(({ id, title }) => [id, title]));
}

function toJob(row: JobRow, title: string | undefined): JobDetail {
  const { target, error, worker } = row;
  const named = {
    byUserId: row.by_account_id,
    libraryId: row.library_id,
    parentId: row.parent_id,
    phase: row.phase,
    doneUnits: row.done_units,
    totalUnits: row.total_units,
    unit: row.unit,
    runAt: row.state === 'delayed' ? iso(row.run_at) : null,
    error,
  };
  return {
    id: row.id,
    queue: row.queue,
    kind: row.kind,
    state: row.state,
    progress: row.progress,
    ...(target && { target: { kind: target.kind, id: target.id, ...(title !== undefined && { title }) } }),
    attempts: row.attempts,
    createdAt: iso(row.created_at),
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    priority: row.priority,
    cause: row.cause,
    maxAttempts: row.max_attempts,
    retriable: isRetriable(row),
    cancellable: isCancellable(row),
    ...(worker && row.state === 'active' && { worker: { pod: worker, node: row.worker_node } }),
    ...(Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null)) as Partial<JobDetail>),
  };
}

function toAttempt(row: AttemptRow) {
  return {
    number: row.number,
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    pod: row.pod,
    ...(row.outcome && { outcome: row.outcome }),
    ...(row.error && { error: row.error }),
  };
}

function totals(states: Partial<Record<JobState, number>>): NonNullable<JobDetail['children']> {
  const { waiting = 0, delayed = 0, active = 0, completed = 0, failed = 0, cancelled = 0 } = states;
  const total = waiting + delayed + active + completed + failed + cancelled;
  return { total, waiting: waiting + delayed, active, completed, failed, cancelled };
}

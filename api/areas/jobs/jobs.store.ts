import type { Knex } from 'knex';
import type { Db } from '#platform/db.ts';
import { type Queue, queues } from '#platform/jobs.ts';
import type { Row } from '#platform/typed-query.ts';
import type { CancelMatch, JobState, RetriedJobs, RetryMatch } from './jobs.schemas.ts';
import { NOT_RETRIABLE } from './rules.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'jobs.queue': Queue;
    'jobs.unit': 'files' | 'items' | 'bytes' | 'ms';
    'jobs.waits_for': 'slot' | 'storage' | 'maintenance-window';
    'jobs.target': { kind: string; id: string; title?: string };
    'jobs.cause': 'person' | 'key' | 'schedule' | 'scan' | 'resource' | 'retry' | 'system';
    'jobs.error': { code: string; reason?: string; message?: string };
    'job_attempts.outcome': 'completed' | 'failed' | 'cancelled' | 'lost' | 'yielded';
    'job_attempts.error': { code: string };
  }
}

const TABLE = 'jobs as j';

export type JobRow = Row<'jobs'>;

export interface JobsWanted {
  ids?: readonly string[] | undefined;
  queue?: Queue | undefined;
  kind?: string | undefined;
  state?: readonly JobState[] | undefined;
  targetId?: string | undefined;
  libraryId?: string | undefined;
  parentId?: string | undefined;
  since?: string | undefined;
  /** Only jobs that this account started. */
  byAccountId?: string | undefined;
}

/** Children of a batch are listed only by their parent's id or by their own ids. */
export function selectJobs(db: Db, wanted: JobsWanted): Knex.QueryBuilder {
  return db(TABLE).modify(matching, wanted).select('j.*', db.raw(`(j.state = 'active')::int as is_active`));
}

function matching(query: Knex.QueryBuilder, wanted: JobsWanted): void {
  const { ids, parentId, targetId, since, state } = wanted;
  if (parentId) void query.where('j.parent_id', parentId);
  else if (!ids) void query.whereNull('j.parent_id');
  if (ids) void query.whereIn('j.id', [...ids]);
  if (state) void query.whereIn('j.state', [...state]);
  if (targetId) void query.whereRaw(`j.target ->> 'id' = ?`, [targetId]);
  if (since) void query.where('j.updated_at', '>', since);
  equal(query, wanted);
}

function equal(
  query: Knex.QueryBuilder,
  wanted: Pick<JobsWanted, 'queue' | 'kind' | 'libraryId' | 'byAccountId'>,
): void {
  const { queue, kind, libraryId, byAccountId } = wanted;
  if (queue) void query.where('j.queue', queue);
  if (kind?.endsWith('.*')) void query.whereLike('j.kind', `${kind.slice(0, -1)}%`);
  else if (kind) void query.where('j.kind', kind);
  if (libraryId) void query.where('j.library_id', libraryId);
  if (byAccountId) void query.where('j.by_account_id', byAccountId);
}

export type AttemptRow = Row<'job_attempts'>;

export async function attemptsOf(db: Db, ids: readonly string[]): Promise<AttemptRow[]> {
  return db('job_attempts')
    .whereIn('job_id', [...ids])
    .orderBy('number')
    .select('*');
}

/** Maps each parent to the number of its children in each state. */
export async function childrenOf(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Partial<Record<JobState, number>>>> {
  const rows = await db('jobs')
    .whereIn('parent_id', [...ids])
    .groupBy('parent_id', 'state')
    .select<{ parent_id: string; state: JobState; n: number }[]>('parent_id', 'state', db.raw('count(*)::int as n'));
  const found = new Map<string, Partial<Record<JobState, number>>>();
  for (const { parent_id: parent, state, n } of rows) found.set(parent, { ...found.get(parent), [state]: n });
  return found;
}

export interface QueueRow {
  queue: Queue;
  waiting: number;
  delayed: number;
  active: number;
  failed: number;
  completed: number;
  ended: number;
  oldest: Date | null;
}

/** Every queue: waiting jobs from the rollup, ended ones of the last day from an index. */
export async function countQueues(db: Db): Promise<QueueRow[]> {
  const found = await db.raw<{ rows: QueueRow[] }>(
    `with now_there as (
       select queue, sum(n) filter (where state = 'waiting')::int as waiting, sum(n) filter (where state = 'delayed')::int as delayed,
         sum(n) filter (where state = 'active')::int as active from job_counts group by queue),
     ended as (
       select queue, count(*) filter (where state = 'failed')::int as failed, count(*) filter (where state = 'completed')::int as completed,
         count(*) filter (where finished_at > now() - interval '10 minutes')::int as ended
       from jobs where finished_at > now() - interval '24 hours' group by queue)
     select q.queue, coalesce(t.waiting, 0) as waiting, coalesce(t.delayed, 0) as delayed, coalesce(t.active, 0) as active,
       coalesce(e.failed, 0) as failed, coalesce(e.completed, 0) as completed, coalesce(e.ended, 0) as ended,
       (select min(j.created_at) from jobs j where j.state = 'waiting' and j.queue = q.queue) as oldest
     from unnest(?::text[]) with ordinality as q(queue, place) left join now_there t using (queue) left join ended e using (queue)
     order by q.place`,
    [[...queues]],
  );
  return found.rows;
}

/** Active jobs by queue. */
export async function countActive(db: Db): Promise<Map<Queue, number>> {
  const rows = await db('job_counts')
    .where({ state: 'active' })
    .groupBy('queue')
    .select<{ queue: Queue; n: number }[]>('queue', db.raw('sum(n)::int as n'));
  return new Map(rows.map(({ queue, n }) => [queue, n]));
}

/** Merges the deltas into one row for each queue and state. */
export async function compactCounts(db: Db): Promise<void> {
  await db.raw(`with gone as (delete from job_counts returning *)
    insert into job_counts select queue, state, sum(n) from gone group by 1, 2 having sum(n) <> 0`);
}

export interface Changed {
  id: string;
  kind: string;
  queue: Queue;
  state: JobState;
  changed: boolean;
}

export interface Judged {
  id: string;
  /** Why the job is not retried; null if it is. */
  reason: RetriedJobs['skipped'][number]['reason'] | null;
}

/** Jobs of the same kind with the same payload are equal, and only one of them waits. */
const EQUAL = 'k.kind = j.kind and k.payload = j.payload and k.id <> j.id';
const GONE = `case j.target ->> 'kind'
    when 'library' then not exists (select from libraries l where l.id::text = j.target ->> 'id' and l.deleted_at is null)
    when 'item' then not exists (select from items i where i.id::text = j.target ->> 'id') else false end`;
const REASON = `case
    when j.state in ('waiting', 'delayed') then 'already-waiting'
    when j.state not in ('failed', 'cancelled') then 'not-failed'
    when j.kind = any(?) then 'not-retriable'
    when ${GONE} then 'target-gone'
    when exists (select from jobs k where ${EQUAL} and k.state in ('waiting', 'delayed')) then 'already-waiting'
    when exists (select from jobs k where ${EQUAL} and k.state = 'completed' and k.finished_at > j.finished_at) then 'not-retriable'
    when row_number() over (partition by j.kind, j.payload, j.state in ('failed', 'cancelled') order by j.id desc) > 1 then 'already-waiting'
    end`;
const AGAIN = `update jobs set state = 'waiting', attempts = 0, losses = 0, error = null, finished_at = null, started_at = null,
    cancel_requested = false, key = null, cause = 'retry', updated_at = now()
  where id in (select id from judged where reason is null) returning id, queue, priority`;
const TASKS = `select graphile_worker.add_job('foyer.' || queue, payload := json_build_object('id', id), priority := priority::int,
    max_attempts := 1000, job_key := id::text) from again`;

/** Requeues ended jobs with their graphile-worker tasks in one statement; returns the verdict on every job. */
async function waitAgain(db: Db, chosen: Knex.QueryBuilder): Promise<Judged[]> {
  const { sql, bindings } = chosen.toSQL();
  const found = await db.raw<{ rows: Judged[] }>(
    `with j as materialized (${sql}), judged as materialized (select j.id, ${REASON} as reason from j),
       again as (${AGAIN}), tasks as (${TASKS})
     select id, reason, (select count(*) from tasks) as added from judged`,
    [...(bindings as string[]), [...NOT_RETRIABLE]],
  );
  return found.rows;
}

export async function retry(db: Db, ids: readonly string[]): Promise<Judged[]> {
  return waitAgain(db, db.from('jobs').whereIn('id', ids).select('jobs.*').forUpdate());
}

const MOST_AT_ONCE = 100_000;

/** Requeues matching failed jobs, at most 100,000, behind the waiting ones. */
export async function retryMatching(db: Db, match: RetryMatch): Promise<Judged[]> {
  const { queue, kind, errorCode, libraryId, since, until } = match;
  const chosen = db(TABLE)
    .where('j.state', 'failed')
    .modify(equal, { queue, kind, libraryId })
    .modify((query) => {
      if (errorCode) void query.whereRaw(`j.error ->> 'code' = ?`, [errorCode]);
      if (since) void query.where('j.finished_at', '>=', since);
      if (until) void query.where('j.finished_at', '<', until);
    })
    .select('j.*')
    .limit(MOST_AT_ONCE)
    .forUpdate('j');
  return waitAgain(db, chosen);
}

/** Locks the rows until the transaction ends. */
export async function lockJobs(db: Db, ids: readonly string[]): Promise<JobRow[]> {
  return db('jobs')
    .whereIn('id', [...ids])
    .orderBy('id')
    .forUpdate()
    .select('*');
}

export async function idsMatching(db: Db, match: CancelMatch): Promise<string[]> {
  const { state, byUserId, ...rest } = match;
  return db(TABLE)
    .whereIn('j.state', state ? [state] : ['waiting', 'delayed', 'active'])
    .modify(equal, { ...rest, byAccountId: byUserId })
    .limit(MOST_AT_ONCE)
    .pluck('j.id');
}

/** Adds the children of each parent. */
export async function withChildren(db: Db, ids: readonly string[]): Promise<string[]> {
  const children = await db('jobs')
    .whereIn('parent_id', [...ids])
    .pluck('id');
  return [...new Set([...ids, ...children])];
}

/** Cancels waiting jobs at once and requests active ones to stop. */
export async function cancel(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(
    `update jobs set cancel_requested = true, updated_at = now(),
       state = case when state = 'active' then state else 'cancelled' end,
       finished_at = case when state = 'active' then null else now() end
     where id = any(?::uuid[]) and state in ('waiting', 'delayed', 'active')`,
    [[...ids]],
  );
}

import { cancelScansOf } from '#areas/scanning/public.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page, pageOf, parseSort, type SortTerm } from '#kernel/page.ts';
import { may } from '#kernel/principal.ts';
import {
  CancelJobs,
  CancelledJobs,
  JobDetail,
  JobsQuery,
  jobSorts,
  QueueStatus,
  RetriedJobs,
  RetryJobs,
} from './jobs.schemas.ts';
import {
  cancel,
  idsMatching,
  type JobRow,
  lockJobs,
  retry,
  retryMatching,
  selectJobs,
  withChildren,
} from './jobs.store.ts';
import { toJobs } from './jobs.view.ts';
import { queueStatuses } from './queues.view.ts';
import { isCancellable, isFinal, isRetriable, NOT_RETRIABLE } from './rules.ts';

/** Active ones before others, then the newest. */
const LATEST: readonly SortTerm[] = [
  { name: 'active', column: `(j.state = 'active')::int`, type: 'int', descending: true },
  { name: 'createdAt', column: 'j.created_at', type: 'timestamptz', descending: true },
];
const MOST_SKIPPED = 100;

export const listJobs = defineEndpoint({
  operationId: 'listJobs',
  method: 'get',
  path: '/jobs',
  summary: 'List background work',
  access: { signedIn: true },
  query: JobsQuery,
  answer: page(JobDetail, { queues: QueueStatus.array().optional() }),

  async handle({ query }, call) {
    const { db, who, deps } = call;
    const { cursor, limit, sort, include, mine, ...wanted } = query;
    const manages = may(who, 'job:manage');
    const byAccountId = manages && !mine ? undefined : who.accountId;
    const found = await pageOf<JobRow, JobRow>(db, selectJobs(db, { ...wanted, byAccountId }), {
      keys: deps.keys,
      terms: sort ? parseSort(sort, jobSorts, '') : LATEST,
      cursor,
      limit,
      scope: JSON.stringify(['listJobs', byAccountId, wanted]),
      idColumn: 'j.id',
      toItem: (row) => row,
    });
    const items = await toJobs(call, found.items, include !== undefined);
    const queues = manages ? await queueStatuses(call) : undefined;
    return answerUnlessSame(call, { items, page: found.page, ...(queues && { queues }) });
  },
});

export const retryJobs = defineEndpoint({
  operationId: 'retryJobs',
  method: 'post',
  path: '/jobs/retry',
  summary: 'Let ended jobs wait again, from where they were',
  access: { permission: 'job:manage' },
  body: RetryJobs,
  answer: json(200, RetriedJobs),

  async handle({ body: { ids, match } }, { db }) {
    if (match) {
      const changed = await retryMatching(db, match, NOT_RETRIABLE);
      return { matched: changed, changed, skipped: [] };
    }
    const asked = [...new Set(ids)];
    const rows = new Map((await lockJobs(db, asked)).map((row) => [row.id, row]));
    const changed = await retry(
      db,
      asked.filter((id) => isRetriable(rows.get(id) ?? ABSENT)),
    );
    const skipped = asked
      .filter((id) => !changed.includes(id))
      .map((id) => ({ id, reason: whyNotRetried(rows.get(id)) }));
    return { matched: rows.size, changed: changed.length, skipped: skipped.slice(0, MOST_SKIPPED) };
  },
});

const ABSENT = { kind: '', state: 'completed' } as const;

function whyNotRetried(row: JobRow | undefined): RetriedJobs['skipped'][number]['reason'] {
  if (!row) return 'target-gone';
  if (row.state === 'waiting' || row.state === 'delayed') return 'already-waiting';
  return row.state === 'failed' || row.state === 'cancelled' ? 'not-retriable' : 'not-failed';
}

export const cancelJobs = defineEndpoint({
  operationId: 'cancelJobs',
  method: 'post',
  path: '/jobs/cancel',
  summary: 'Cancel jobs; running ones stop within 5 seconds',
  access: { permission: 'job:manage' },
  body: CancelJobs,
  answer: json(200, CancelledJobs),

  async handle({ body: { ids, match } }, { db, now }) {
    const asked = match ? await idsMatching(db, match) : [...new Set(ids)];
    const rows = await lockJobs(db, await withChildren(db, asked));
    const going = rows.filter(isCancellable);
    const goingIds = going.map(({ id }) => id);
    await cancel(db, goingIds);
    await cancelScansOf(db, goingIds, now);
    const stopping = going.filter(({ state }) => state === 'active').length;
    const skipped = rows
      .filter((row) => !isCancellable(row))
      .map((row) => ({ id: row.id, reason: isFinal(row) ? ('final' as const) : ('not-cancellable' as const) }));
    const changed = going.length - stopping;
    return { matched: rows.length, changed, stopping, skipped: skipped.slice(0, MOST_SKIPPED) };
  },
});

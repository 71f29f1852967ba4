import { cancelScansOf } from '#areas/scanning/public.ts';
import { may } from '#identity/principal.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import {
  CancelJobs,
  CancelledJobs,
  JobDetail,
  JobsQuery,
  jobSorts,
  latest,
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
import { queueStatuses, standingNow } from './queues.view.ts';
import { isCancellable, isFinal } from './rules.ts';

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
      terms: sort ? parseSort(sort, jobSorts, '') : latest,
      cursor,
      limit,
      scope: JSON.stringify(['listJobs', byAccountId, wanted]),
      idColumn: 'j.id',
      toItem: (row) => row,
    });
    const standing = await standingNow(call);
    const items = await toJobs(call, found.items, { history: include !== undefined, standing });
    const queues = manages ? await queueStatuses(call, standing) : undefined;
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

  async handle({ body: { ids = [], match } }, { db }) {
    const asked = new Set(ids);
    const judged = match ? await retryMatching(db, match) : await retry(db, [...asked]);
    const gone = [...asked.difference(new Set(judged.map(({ id }) => id)))].map((id) => {
      return { id, reason: 'target-gone' as const };
    });
    const passed = judged.flatMap(({ id, reason }) => (reason ? [{ id, reason }] : []));
    const changed = judged.length - passed.length;
    return { matched: judged.length, changed, skipped: [...passed, ...gone].slice(0, MOST_SKIPPED) };
  },
});

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

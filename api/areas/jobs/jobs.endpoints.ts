import { cancelScansOf } from '#areas/scanning/public.ts';
import { may } from '#identity/principal.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
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
  summary: 'List background jobs',
  description:
    "With the permission `job:manage` every job is listed, together with the status of each queue; everyone else sees the jobs that they started themselves. Jobs of a batch are left out unless requested by `parentId` or `ids`. Poll with `since` to get only jobs that changed. A target's title is omitted unless the caller may see the item.",
  access: { signedIn: true },
  query: JobsQuery,
  answer: page(JobDetail, { queues: QueueStatus.array().optional() }),

  async handle({ query }, call) {
    const manages = may(call.who, 'job:manage');
    const found = await pageOfJobs(call, query, manages);
    const standing = await standingNow(call);
    const items = await toJobs(call, found.items, { history: query.include !== undefined, standing });
    const queues = manages ? await queueStatuses(call, standing) : undefined;
    return answerUnlessSame(call, { items, page: found.page, ...(queues && { queues }) });
  },
});

/** A page of every job for those who manage jobs, of the caller's own jobs for everyone else. */
async function pageOfJobs({ db, who, deps }: Call, query: JobsQuery, manages: boolean) {
  const { cursor, limit, sort, include: _include, mine, ...wanted } = query;
  const byAccountId = manages && !mine ? undefined : who.accountId;
  return pageOf<JobRow, JobRow>(db, selectJobs(db, { ...wanted, byAccountId }), {
    keys: deps.keys,
    terms: sort ? parseSort(sort, jobSorts, '') : latest,
    cursor,
    limit,
    scope: JSON.stringify(['listJobs', byAccountId, wanted]),
    idColumn: 'j.id',
    toItem: (row) => row,
  });
}

export const retryJobs = defineEndpoint({
  operationId: 'retryJobs',
  method: 'post',
  path: '/jobs/retry',
  summary: 'Retry failed and cancelled jobs',
  description:
    'Each job keeps its id, starts a fresh count of attempts and continues from its checkpoint. Pass either `ids` or `match`; `match` selects failed jobs only, at most 100,000. Jobs that cannot be retried, and unknown ids, are reported in `skipped` (the first 100) and do not fail the request.',
  access: { permission: 'job:manage' },
  body: RetryJobs,
  answer: json(200, RetriedJobs),

  async handle({ body: { ids = [], match } }, { db }) {
    const requested = new Set(ids);
    const judged = match ? await retryMatching(db, match) : await retry(db, [...requested]);
    const gone = [...requested.difference(new Set(judged.map(({ id }) => id)))].map((id) => {
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
  summary: 'Cancel jobs',
  description:
    'Waiting and delayed jobs are cancelled at once; running jobs stop at their next safe point, normally within 5 seconds, and are counted in `stopping`. Pass either `ids` or a `match` that is not empty. Cancelling the parent of a batch cancels its children. Jobs that are final or cannot be cancelled are reported in `skipped` (the first 100).',
  access: { permission: 'job:manage' },
  body: CancelJobs,
  answer: json(200, CancelledJobs),

  async handle({ body: { ids, match } }, { db, now }) {
    const chosen = match ? await idsMatching(db, match) : [...new Set(ids)];
    const rows = await lockJobs(db, await withChildren(db, chosen));
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

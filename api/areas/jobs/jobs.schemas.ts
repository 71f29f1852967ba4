import { z } from 'zod';
import { pageQuery } from '#kernel/page.ts';
import { commaList, Id, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, type SortTerm, sortQuery } from '#kernel/sort.ts';
import { queues } from '#platform/jobs.ts';

export const Queue = z.enum(queues);
export const JobState = z.enum(['waiting', 'delayed', 'active', 'completed', 'failed', 'cancelled']);
export type JobState = z.output<typeof JobState>;

/** A job kind, or a family of kinds such as `subtitles.*`. */
const KindMatch = z
  .string()
  .max(60)
  .regex(/^[a-z]+(-[a-z]+)*\.([a-z]+(-[a-z]+)*|\*)$/);

const JobError = z.object({
  code: z.string(),
  reason: z.string().optional(),
  message: z.string().optional().meta({ example: 'Reading files' }),
});

const JobAttempt = z
  .object({
    number: z.int(),
    startedAt: Timestamp,
    finishedAt: Timestamp.nullable(),
    pod: z.string(),
    outcome: z.enum(['completed', 'failed', 'cancelled', 'lost', 'yielded']).optional(),
    error: JobError.optional(),
  })
  .meta({ id: 'JobAttempt' });

export const Job = z
  .object({
    id: Id,
    queue: Queue,
    kind: z.string().meta({ example: 'library.scan' }),
    state: JobState,
    progress: z.number().min(0).max(1).meta({ example: 0.24 }),
    target: z
      .object({
        kind: z.string().meta({ example: 'library.scan' }),
        id: z.string(),
        title: z.string().optional().meta({ example: 'Films' }),
      })
      .optional()
      .describe('Includes the title if the caller may see the item'),
    attempts: z.int(),
    error: JobError.optional(),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Job' });
export type Job = z.output<typeof Job>;

const Children = z.object({
  total: z.int().meta({ example: 1 }),
  waiting: z.int(),
  active: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
});

export const JobDetail = Job.extend({
  priority: z.int().min(0).max(100).describe('Lower values run sooner'),
  byUserId: Id.optional(),
  cause: z.enum(['person', 'key', 'schedule', 'scan', 'resource', 'retry', 'system']),
  libraryId: Id.optional(),
  parentId: Id.optional().describe('The batch that the job belongs to'),
  children: Children.optional(),
  phase: z.string().optional(),
  doneUnits: z.int().min(0).optional().describe('Of `unit`'),
  totalUnits: z.int().min(0).optional().describe('Absent while the total is unknown'),
  unit: z.enum(['files', 'items', 'bytes', 'ms']).optional(),
  remainingMs: z.int().optional().describe('Estimated from the finished part'),
  runAt: Timestamp.optional().describe('When delayed'),
  waitsFor: z
    .enum(['streaming', 'maintenance-window', 'storage', 'provider', 'slot', 'pause'])
    .optional()
    .describe('What the job waits for in addition to its turn'),
  worker: z.object({ pod: z.string(), node: z.string().nullable() }).optional(),
  maxAttempts: z.int(),
  retriable: z.boolean(),
  cancellable: z.boolean(),
  history: z.array(JobAttempt).optional(),
}).meta({ id: 'JobDetail' });
export type JobDetail = z.output<typeof JobDetail>;

export const QueueStatus = z
  .object({
    queue: Queue,
    waiting: z.int(),
    delayed: z.int(),
    active: z.int(),
    failed: z.int().describe('Of the last 24 hours'),
    completed: z.int().describe('Of the last 24 hours'),
    oldestWaitingAt: Timestamp.optional(),
    perMinute: z.number().describe('Jobs ended per minute, over the last ten minutes'),
    drainMs: z.int().optional().describe('Estimated time until the queue is empty'),
    concurrency: z.int(),
    workers: z.int(),
    paused: z.boolean(),
    pausedFor: z.enum(['person', 'streaming', 'maintenance-window', 'storage', 'no-worker']).optional(),
  })
  .meta({ id: 'QueueStatus' });
export type QueueStatus = z.output<typeof QueueStatus>;

export const jobSorts: SortTable = {
  createdAt: { column: 'j.created_at', type: 'timestamptz' },
  startedAt: { column: 'j.started_at', type: 'timestamptz', nullable: true },
  finishedAt: { column: 'j.finished_at', type: 'timestamptz', nullable: true },
  progress: { column: 'j.progress', type: 'real' },
  priority: { column: 'j.priority', type: 'int' },
};

/** Active jobs first, then by creation, newest first. */
export const latest: readonly SortTerm[] = [
  { name: 'active', column: `(j.state = 'active')::int`, type: 'int', descending: true },
  { name: 'createdAt', column: 'j.created_at', type: 'timestamptz', descending: true },
];

export const JobsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(jobSorts),
  include: commaList(z.literal('history'), 1).optional(),
  ids: commaList(Id, 200).optional(),
  queue: Queue.optional(),
  kind: KindMatch.optional().describe('Exact, or a family such as subtitles.*'),
  state: commaList(JobState, 6).optional(),
  targetId: z.string().max(100).optional(),
  libraryId: Id.optional(),
  parentId: Id.optional(),
  mine: queryBool.default(false),
  since: Moment.optional().describe('Only jobs that changed after this time'),
});
export type JobsQuery = z.output<typeof JobsQuery>;

const Ids = z.array(Id).min(1).max(1000);
const oneOf = { error: 'exactly one of ids and match', params: { code: 'one_of' } };
const ONE_MEMBER = { minProperties: 1, maxProperties: 1 };
const named = { error: 'name at least one member', params: { code: 'too_small' } };
const exactlyOne = ({ ids, match }: { ids?: unknown; match?: unknown }): boolean =>
  (ids === undefined) !== (match === undefined);
const notEmpty = (match: object): boolean => Object.values(match).some((value) => value !== undefined);

export const RetryJobs = z
  .strictObject({
    ids: Ids.optional().meta({ example: ['01977c2e-5a00-7234-8660-67f626bf8a3a'] }),
    match: z
      .strictObject({
        queue: Queue.optional(),
        kind: KindMatch.optional(),
        errorCode: z.string().max(60).optional(),
        libraryId: Id.optional(),
        since: Moment.optional(),
        until: Moment.optional(),
      })
      .optional(),
  })
  .refine(exactlyOne, oneOf)
  .meta(ONE_MEMBER);
export type RetryMatch = NonNullable<z.output<typeof RetryJobs>['match']>;

export const CancelJobs = z
  .strictObject({
    ids: Ids.optional().meta({ example: ['01977c2e-5a00-7234-8660-67f626bf8a3a'] }),
    match: z
      .strictObject({
        queue: Queue.optional(),
        kind: KindMatch.optional(),
        state: z.enum(['waiting', 'delayed', 'active']).optional(),
        libraryId: Id.optional(),
        byUserId: Id.optional(),
      })
      .refine(notEmpty, named)
      .meta({ minProperties: 1 })
      .optional(),
  })
  .refine(exactlyOne, oneOf)
  .meta(ONE_MEMBER);
export type CancelMatch = NonNullable<z.output<typeof CancelJobs>['match']>;

const Skipped = <R extends [string, ...string[]]>(reasons: R) =>
  z.array(z.object({ id: Id, reason: z.enum(reasons) })).max(100);

export const RetriedJobs = z
  .object({
    matched: z.int(),
    changed: z.int(),
    skipped: Skipped(['not-failed', 'not-retriable', 'target-gone', 'already-waiting']),
  })
  .meta({ id: 'RetriedJobs' });
export type RetriedJobs = z.output<typeof RetriedJobs>;

export const CancelledJobs = z
  .object({
    matched: z.int(),
    changed: z.int(),
    stopping: z.int().describe('Active jobs that were requested to stop'),
    skipped: Skipped(['final', 'not-cancellable']),
  })
  .meta({ id: 'CancelledJobs' });
export type CancelledJobs = z.output<typeof CancelledJobs>;

// Decides how many transcode Jobs to create and which to delete. Pure.
import type { MediaServerSpec, MediaServerStatus } from '../schemas/media-server.ts';
import type { Trouble } from './pod-trouble.ts';

/** A worker, from the API's metrics. */
export interface PoolWorker {
  pod: string;
  encoder: string;
  gpu: boolean;
  slots: number;
  used: number;
  /** Seconds without a session; 0 while it has one. */
  idleSeconds: number;
}

/** Demand and workers, from the API's metrics. */
export interface PoolDemand {
  waiting: number;
  sessions: number;
  workers: readonly PoolWorker[];
}

export interface PoolJob {
  name: string;
  /** The number at the end of its name. */
  index: number;
  /** Hash of its pod template. */
  template: string;
  accelerated: boolean;
  /** Runs on the CPU because no accelerator was available. */
  fallback: boolean;
  createdAt: Date;
  failedAt?: Date;
  completed: boolean;
  deleting: boolean;
  pod?: PoolPod;
  /** Why its pod cannot be created. */
  refused?: string;
}

export interface PoolPod {
  name: string;
  createdAt: Date;
  /** The scheduler's message. */
  unschedulable?: string;
  /** The reason why it does not run. */
  trouble?: Trouble;
}

export interface ObservedPool {
  jobs: readonly PoolJob[];
  /** Undefined while the server does not report it. */
  demand: PoolDemand | undefined;
  /** Running pods that have not reported for minutes. */
  silent: ReadonlySet<string>;
  /** Hash of the template for new Jobs. */
  template: string;
  now: Date;
}

export interface NewJob {
  index: number;
  accelerated: boolean;
  fallback: boolean;
}

export interface PoolPlan {
  make: NewJob[];
  /** Names of Jobs to delete; their sessions move to other workers. */
  end: string[];
  /** Maximum time until the next check. */
  recheckMs: number;
}

type Transcode = MediaServerSpec['transcode'];

/** Time without an accelerator after which the CPU is used. */
export const FALLBACK_AFTER_MS = 10_000;
/** Age after which an idle worker on the CPU is replaced, to try the accelerator again. */
export const RETRY_AFTER_MS = 30 * 60_000;
/** New Jobs start on the CPU if another one fell back within this time. */
const RECENT_MS = 60_000;
/** A failed Job is kept for this long: its log stays readable, and crashes do not create Jobs in a loop. */
const FAILED_KEPT_MS = 60_000;
const LOOK_MS = 3000;
const LOOK_SOON_MS = 1000;

export function planPool(spec: Transcode, observed: ObservedPool): PoolPlan {
  const pool = classify(spec, observed);
  const wanted = wantedJobs(spec, pool);
  const end = new Set([
    ...finished(observed),
    ...silentJobs(observed).map(({ name }) => name),
    ...pool.starved.map(({ name }) => name),
    ...acceleratorRetries(spec, pool, observed.now),
    ...surplus(spec, pool, wanted),
    ...outdated(spec, pool, wanted),
  ]);
  const staying = pool.live.filter(({ name }) => !end.has(name));
  const current = staying.filter(({ template }) => template === observed.template).length;
  const room = spec.max + surge(pool) - pool.live.length + pool.starved.length; // starved Jobs never had a session
  const count = Math.max(0, Math.min(wanted - current, room));
  const make = newJobs(count, {
    spec,
    taken: observed.jobs.map(({ index }) => index),
    cpu: fellBackRecently(pool, observed.now),
  });
  return { make, end: [...end], recheckMs: settled(pool) ? LOOK_MS : LOOK_SOON_MS };
}

interface Pool {
  /** Jobs that are neither completed nor being deleted; failed ones count until they are deleted. */
  live: PoolJob[];
  workerOf: (job: PoolJob) => PoolWorker | undefined;
  demand: PoolDemand | undefined;
  template: string;
  /** Accelerated Jobs whose pod has waited more than ten seconds for a node or for quota. */
  starved: PoolJob[];
}

function classify(spec: Transcode, { jobs, demand, template, now }: ObservedPool): Pool {
  const live = jobs.filter(({ completed, deleting }) => !completed && !deleting);
  const workerOf = ({ pod }: PoolJob) => demand?.workers.find((worker) => worker.pod === pod?.name);
  const waitedMs = (job: PoolJob) => now.getTime() - (waitsSince(job, spec)?.getTime() ?? now.getTime());
  const starved = live.filter((job) => job.accelerated && waitedMs(job) >= FALLBACK_AFTER_MS);
  return { live, workerOf, demand, template, starved: spec.fallbackToCPU ? starved : [] };
}

/** An exhausted quota rejects the pod with the name of the resource. */
function waitsSince({ pod, refused, createdAt }: PoolJob, { accelerator }: Transcode): Date | undefined {
  if (pod) return pod.unschedulable === undefined ? undefined : pod.createdAt;
  return accelerator && refused?.includes(accelerator.resourceName) ? createdAt : undefined;
}

const isFull = (worker: PoolWorker | undefined): boolean => worker !== undefined && worker.used >= worker.slots;

/** All full workers, workers for waiting sessions, and `warm` idle ones. Unknown demand changes only the first start. */
function wantedJobs({ max, warm, sessionsPerJob }: Transcode, { live, demand, workerOf }: Pool): number {
  if (!demand) return Math.min(max, Math.max(warm, live.length));
  const full = live.filter((job) => isFull(workerOf(job))).length;
  return Math.min(max, full + Math.ceil(demand.waiting / sessionsPerJob) + warm);
}

/** Finished Jobs to delete: completed ones at once, failed ones after a while. */
function finished({ jobs, now }: ObservedPool): string[] {
  const failedLongAgo = ({ failedAt }: PoolJob) => failedAt && now.getTime() - failedAt.getTime() >= FAILED_KEPT_MS;
  return jobs.filter((job) => !job.deleting && (job.completed || failedLongAgo(job))).map(({ name }) => name);
}

/** Jobs of silent workers, which serve no session: they are deleted and created again. */
export const silentJobs = ({ jobs, silent }: ObservedPool): PoolJob[] =>
  jobs.filter(({ deleting, pod }) => !deleting && pod && silent.has(pod.name));

/** Replaces one idle worker on the CPU at a time, to try the accelerator again. */
function acceleratorRetries({ accelerator }: Transcode, { live, workerOf }: Pool, now: Date): string[] {
  if (!accelerator) return [];
  const old = ({ fallback, createdAt }: PoolJob) => fallback && now.getTime() - createdAt.getTime() >= RETRY_AFTER_MS;
  const idle = live.find((job) => old(job) && workerOf(job)?.used === 0);
  return idle ? [idle.name] : [];
}

/** Idle workers to remove: older templates first, then workers on the CPU, then the newest. */
function surplus(
  { idleSeconds, max }: Transcode,
  { live, demand, template, workerOf }: Pool,
  wanted: number,
): string[] {
  if (!demand || live.length <= wanted) return [];
  const least = max === 0 ? 0 : idleSeconds;
  const idle = live.filter((job) => {
    const worker = workerOf(job);
    return worker?.used === 0 && worker.idleSeconds >= least;
  });
  const rank = (job: PoolJob) => 2 * Number(job.template !== template) + Number(job.fallback);
  const order = idle.sort((a, b) => rank(b) - rank(a) || b.index - a.index);
  return order.slice(0, live.length - wanted).map(({ name }) => name);
}

const isOld = ({ template }: PoolJob, pool: Pool): boolean => template !== pool.template;

const isBlocked = ({ pod, refused }: PoolJob): boolean => (pod?.unschedulable ?? refused) !== undefined;

/**
 * During a roll-out one Job above `max` is allowed, so that a new worker runs before an old one ends; none while a new pod is
 * blocked.
 */
function surge(pool: Pool): number {
  const current = pool.live.filter((job) => !isOld(job, pool));
  return pool.live.length > current.length && !current.some(isBlocked) ? 1 : 0;
}

/**
 * The next Job of an older template to delete: once its replacement runs, or earlier if it may hold the resources that the
 * replacement waits for.
 */
function outdated({ max }: Transcode, pool: Pool, wanted: number): string[] {
  const old = pool.live.filter((job) => isOld(job, pool));
  const current = pool.live.filter((job) => !isOld(job, pool));
  const isAboveMax = pool.live.length > max;
  const replacementRuns = current.length > 0 && current.every((job) => pool.workerOf(job));
  const isReplaced = replacementRuns && (current.length >= wanted || isAboveMax);
  const mayBlockReplacement = isAboveMax && current.some(isBlocked);
  if (!(isReplaced || mayBlockReplacement || wanted === 0)) return [];
  const load = (job: PoolJob) => pool.workerOf(job)?.used ?? 0;
  const [next] = old.sort((a, b) => load(a) - load(b));
  return next ? [next.name] : [];
}

const fellBackRecently = ({ live, starved }: Pool, now: Date): boolean =>
  starved.length > 0 ||
  live.some(({ fallback, createdAt }) => fallback && now.getTime() - createdAt.getTime() < RECENT_MS);

/** The lowest free numbers: a pass with an outdated cache then plans the same Job again, which is no write. */
function newJobs(count: number, { spec, taken, cpu }: { spec: Transcode; taken: number[]; cpu: boolean }): NewJob[] {
  const accelerated = spec.accelerator !== undefined && !cpu;
  const fallback = spec.accelerator !== undefined && cpu;
  const made: NewJob[] = [];
  for (let index = 0; made.length < count; index++) {
    if (!taken.includes(index)) made.push({ index, accelerated, fallback });
  }
  return made;
}

/** No worker starts, no session waits, and demand is known. */
const settled = ({ live, demand, workerOf }: Pool): boolean =>
  demand !== undefined && demand.waiting === 0 && live.every((job) => workerOf(job) !== undefined);

/** The content of status.transcode. */
export function poolStatus({ jobs, demand }: ObservedPool): NonNullable<MediaServerStatus['transcode']> {
  const workers = demand?.workers ?? [];
  const gpu = workers.find((worker) => worker.gpu);
  return {
    jobs: jobs.filter(({ completed, deleting }) => !completed && !deleting).length,
    ...(demand && { sessions: demand.sessions, waiting: demand.waiting }),
    warm: workers.filter(({ used }) => used === 0).length,
    ...(workers[0] && { accelerator: gpu?.encoder ?? 'cpu' }),
  };
}

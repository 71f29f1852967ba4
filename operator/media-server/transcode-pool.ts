// How many transcode Jobs there should be, and on what. Pure: from what was seen to what to make and end.
import type { MediaServerSpec, MediaServerStatus } from '../schemas/media-server.ts';
import type { Trouble } from './pod-trouble.ts';

/** A worker as the API's metrics tell of it. */
export interface PoolWorker {
  pod: string;
  encoder: string;
  gpu: boolean;
  slots: number;
  used: number;
  /** Since when it serves nobody; 0 while it does. */
  idleSeconds: number;
}

/** Demand and supply as the server sees them. */
export interface PoolDemand {
  waiting: number;
  sessions: number;
  workers: readonly PoolWorker[];
}

export interface PoolJob {
  name: string;
  /** The number at the end of its name. */
  index: number;
  /** Hash of the pod template that it was made from. */
  template: string;
  accelerated: boolean;
  /** On the CPU because no accelerator was to be had. */
  fallback: boolean;
  createdAt: Date;
  failedAt?: Date;
  completed: boolean;
  deleting: boolean;
  pod?: PoolPod;
  /** Why its pod cannot be made; it has none. */
  refused?: string;
}

export interface PoolPod {
  name: string;
  createdAt: Date;
  /** The scheduler's words. */
  unschedulable?: string;
  /** What keeps it from running. */
  trouble?: Trouble;
}

export interface ObservedPool {
  jobs: readonly PoolJob[];
  /** Undefined while the server does not tell. */
  demand: PoolDemand | undefined;
  /** Pods that run and did not report for minutes. */
  silent: ReadonlySet<string>;
  /** Hash of the template that Jobs are made from now. */
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
  /** Names of Jobs to delete; their sessions move. */
  end: string[];
  /** When to look again, at the latest. */
  recheckMs: number;
}

type Transcode = MediaServerSpec['transcode'];

/** How long an accelerator may be missing before the CPU takes over. */
export const FALLBACK_AFTER_MS = 10_000;
/** After so long on the CPU an idle worker makes room for another try on the accelerator. */
const RETRY_AFTER_MS = 30 * 60_000;
/** A new Job goes straight to the CPU when another fell back so shortly before. */
const RECENT_MS = 60_000;
/** A failed Job stays that long, so that its pod's log can be read, and a crash does not become a storm. */
const FAILED_KEPT_MS = 60_000;
const LOOK_MS = 3000;
const LOOK_SOON_MS = 1000;

export function planPool(spec: Transcode, seen: ObservedPool): PoolPlan {
  const pool = sortPool(spec, seen);
  const wanted = wantedJobs(spec, pool);
  const end = new Set([
    ...over(seen),
    ...silentJobs(seen).map(({ name }) => name),
    ...pool.starved.map(({ name }) => name),
    ...retried(spec, pool, seen.now),
    ...surplus(spec, pool, wanted),
    ...outdated(spec, pool, wanted),
  ]);
  const staying = pool.live.filter(({ name }) => !end.has(name));
  const current = staying.filter(({ template }) => template === seen.template).length;
  const room = spec.max + surge(pool) - pool.live.length + pool.starved.length; // the starved never held anything
  const count = Math.max(0, Math.min(wanted - current, room));
  const make = newJobs(count, { spec, taken: seen.jobs.map(({ index }) => index), cpu: fellBackNow(pool, seen.now) });
  return { make, end: [...end], recheckMs: settled(pool) ? LOOK_MS : LOOK_SOON_MS };
}

interface Pool {
  /** Neither ended nor ending; failed ones count until they are taken away. */
  live: PoolJob[];
  workerOf: (job: PoolJob) => PoolWorker | undefined;
  demand: PoolDemand | undefined;
  template: string;
  /** Those without a pod that runs for lack of the accelerator, for over ten seconds: no node takes it, or no quota. */
  starved: PoolJob[];
}

function sortPool(spec: Transcode, { jobs, demand, template, now }: ObservedPool): Pool {
  const live = jobs.filter(({ completed, deleting }) => !completed && !deleting);
  const workerOf = ({ pod }: PoolJob) => demand?.workers.find((worker) => worker.pod === pod?.name);
  const missed = (job: PoolJob) => now.getTime() - (missesSince(job, spec)?.getTime() ?? now.getTime());
  const starved = live.filter((job) => job.accelerated && missed(job) >= FALLBACK_AFTER_MS);
  return { live, workerOf, demand, template, starved: spec.fallbackToCPU ? starved : [] };
}

/** A quota that is full of it refuses the pod itself, by the name of the resource. */
function missesSince({ pod, refused, createdAt }: PoolJob, { accelerator }: Transcode): Date | undefined {
  if (pod) return pod.unschedulable === undefined ? undefined : pod.createdAt;
  return accelerator && refused?.includes(accelerator.resourceName) ? createdAt : undefined;
}

const isFull = (worker: PoolWorker | undefined): boolean => worker !== undefined && worker.used >= worker.slots;

/** As many as are full or asked for, and `warm` that wait; unknown demand changes nothing but the first start. */
function wantedJobs({ max, warm, sessionsPerJob }: Transcode, { live, demand, workerOf }: Pool): number {
  if (!demand) return Math.min(max, Math.max(warm, live.length));
  const full = live.filter((job) => isFull(workerOf(job))).length;
  return Math.min(max, full + Math.ceil(demand.waiting / sessionsPerJob) + warm);
}

/** Jobs that are over: completed ones at once, failed ones after a while. */
function over({ jobs, now }: ObservedPool): string[] {
  const failedLongAgo = ({ failedAt }: PoolJob) => failedAt && now.getTime() - failedAt.getTime() >= FAILED_KEPT_MS;
  return jobs.filter((job) => !job.deleting && (job.completed || failedLongAgo(job))).map(({ name }) => name);
}

/** They take no session: their Jobs are made again. */
export const silentJobs = ({ jobs, silent }: ObservedPool): PoolJob[] =>
  jobs.filter(({ deleting, pod }) => !deleting && pod && silent.has(pod.name));

/** One idle worker on the CPU at a time gives way to another try. */
function retried({ accelerator }: Transcode, { live, workerOf }: Pool, now: Date): string[] {
  if (!accelerator) return [];
  const old = ({ fallback, createdAt }: PoolJob) => fallback && now.getTime() - createdAt.getTime() >= RETRY_AFTER_MS;
  const idle = live.find((job) => old(job) && workerOf(job)?.used === 0);
  return idle ? [idle.name] : [];
}

/** Idle ones over what is wanted: those of an older release, those on the CPU and the newest first. */
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

/** During a roll-out there may be one more than `max`: the new one works before an old one ends. No second one beside one that no node takes. */
function surge(pool: Pool): number {
  const current = pool.live.filter((job) => !isOld(job, pool));
  return pool.live.length > current.length && !current.some(isBlocked) ? 1 : 0;
}

/** One at a time, once those that replace it work; before that only one, where it may hold what the new one waits for. */
function outdated({ max }: Transcode, pool: Pool, wanted: number): string[] {
  const old = pool.live.filter((job) => isOld(job, pool));
  const current = pool.live.filter((job) => !isOld(job, pool));
  const crowded = pool.live.length > max;
  const working = current.length > 0 && current.every((job) => pool.workerOf(job));
  const replaced = working && (current.length >= wanted || crowded);
  const inTheWay = crowded && current.some(isBlocked);
  if (!(replaced || inTheWay || wanted === 0)) return [];
  const load = (job: PoolJob) => pool.workerOf(job)?.used ?? 0;
  const [next] = old.sort((a, b) => load(a) - load(b));
  return next ? [next.name] : [];
}

const fellBackNow = ({ live, starved }: Pool, now: Date): boolean =>
  starved.length > 0 ||
  live.some(({ fallback, createdAt }) => fallback && now.getTime() - createdAt.getTime() < RECENT_MS);

/** The lowest free numbers: a pass that did not see its own last write yet makes the same Job again, which is no write. */
function newJobs(count: number, { spec, taken, cpu }: { spec: Transcode; taken: number[]; cpu: boolean }): NewJob[] {
  const accelerated = spec.accelerator !== undefined && !cpu;
  const fallback = spec.accelerator !== undefined && cpu;
  const made: NewJob[] = [];
  for (let index = 0; made.length < count; index++) {
    if (!taken.includes(index)) made.push({ index, accelerated, fallback });
  }
  return made;
}

/** Nothing starts, waits or is unknown. */
const settled = ({ live, demand, workerOf }: Pool): boolean =>
  demand !== undefined && demand.waiting === 0 && live.every((job) => workerOf(job) !== undefined);

/** What status.transcode says. */
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

import type { Redis } from '#platform/redis.ts';

/** The Redis stream that carries offers of sessions to workers; the rows in Postgres are the truth. */
export const OFFERS = 'foyer:transcode:offers';

/** Tells of a wanted segment, of a session's end, and of a stored one. */
export const wantChannel = (id: string): string => `foyer:transcode:want:${id}`;
export const readyChannel = (id: string): string => `foyer:transcode:ready:${id}`;

/** Workers that are there and their slots, each renewed every 3 s. */
export const WORKERS = 'foyer:transcode:workers';

export interface Want {
  rendition: string;
  /** -1 asks for the init segment. */
  segment: number;
  /** It is there already: the worker only learns where the viewer is. */
  stored?: boolean;
  /** All who wanted it went away. */
  withdrawn?: boolean;
}

/** Lost with Redis: workers then find the open rows themselves within 2 seconds. */
export async function offerSession(redis: Redis, id: string): Promise<void> {
  await redis.xadd(OFFERS, 'MAXLEN', '~', 1000, '*', 'id', id).catch(() => null);
}

export async function announceWant(redis: Redis, id: string, want: Want): Promise<void> {
  await redis.publish(wantChannel(id), JSON.stringify(want)).catch(() => 0);
}

/** Tells the session's worker to look at the row now. */
export async function announceStop(redis: Redis, id: string): Promise<void> {
  await redis.publish(wantChannel(id), 'stop').catch(() => 0);
}

export async function announceReady(redis: Redis, id: string, key: string): Promise<void> {
  await redis.publish(readyChannel(id), key).catch(() => 0);
}

/** What a transcode worker says of itself, renewed every 3 s and believed for 10. */
export interface WorkerReport {
  /** The pod, or the process on one machine. */
  pod: string;
  encoder: string;
  gpu: boolean;
  slots: number;
  used: number;
  /** Milliseconds since 1970 since when it serves nobody; null while it serves. */
  idleSince: number | null;
}

export async function reportWorker(redis: Redis, id: string, report: WorkerReport): Promise<void> {
  await redis.hset(WORKERS, id, JSON.stringify({ ...report, at: Date.now() })).catch(() => 0);
}

export async function forgetWorker(redis: Redis, id: string): Promise<void> {
  await redis.hdel(WORKERS, id).catch(() => 0);
}

const BELIEVED_MS = 10_000;

/** The workers seen in the last 10 seconds; undefined when Redis is away. */
export async function liveWorkers(redis: Redis): Promise<WorkerReport[] | undefined> {
  const all = await redis.hgetall(WORKERS).catch(() => undefined);
  if (!all) return undefined;
  const reports = Object.values(all).map((text) => JSON.parse(text) as WorkerReport & { at: number });
  return reports.filter(({ at }) => Date.now() - at < BELIEVED_MS);
}

/** Slots of all live workers; undefined when Redis is away. */
export async function countWorkerSlots(redis: Redis): Promise<number | undefined> {
  const workers = await liveWorkers(redis);
  return workers?.reduce((total, { slots }) => total + slots, 0);
}

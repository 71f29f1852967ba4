import type { Redis } from '#platform/redis.ts';

/** The Redis stream that offers sessions to workers. Postgres rows are authoritative. */
export const OFFERS = 'foyer:transcode:offers';

/** Channels of a session: wanted segments and its end, and stored segments. */
export const wantChannel = (id: string): string => `foyer:transcode:want:${id}`;
export const readyChannel = (id: string): string => `foyer:transcode:ready:${id}`;

/** Live workers and their slots, each renewed every 3 seconds. */
export const WORKERS = 'foyer:transcode:workers';

export interface Want {
  rendition: string;
  /** -1 is the init segment. */
  segment: number;
  /** The segment is stored, so the worker only learns the viewer's position. */
  stored?: boolean;
  /** All clients that waited for it have disconnected. */
  withdrawn?: boolean;
}

/** Without Redis the offer is lost, and workers find the row within 2 seconds. */
export async function offerSession(redis: Redis, id: string): Promise<void> {
  await redis.xadd(OFFERS, 'MAXLEN', '~', 1000, '*', 'id', id).catch(() => null);
}

export async function announceWant(redis: Redis, id: string, want: Want): Promise<void> {
  await redis.publish(wantChannel(id), JSON.stringify(want)).catch(() => 0);
}

/** Makes the session's worker read the row now. */
export async function announceStop(redis: Redis, id: string): Promise<void> {
  await redis.publish(wantChannel(id), 'stop').catch(() => 0);
}

export async function announceReady(redis: Redis, id: string, key: string): Promise<void> {
  await redis.publish(readyChannel(id), key).catch(() => 0);
}

/** Status of a transcode worker, renewed every 3 seconds and valid for 10. */
export interface WorkerReport {
  /** The pod, or the process on a single machine. */
  pod: string;
  encoder: string;
  gpu: boolean;
  slots: number;
  used: number;
  /** Unix time in ms since which it serves no session; null while it serves one. */
  idleSince: number | null;
}

export async function reportWorker(redis: Redis, id: string, report: WorkerReport): Promise<void> {
  await redis.hset(WORKERS, id, JSON.stringify({ ...report, at: Date.now() })).catch(() => 0);
}

export async function forgetWorker(redis: Redis, id: string): Promise<void> {
  await redis.hdel(WORKERS, id).catch(() => 0);
}

const VALID_MS = 10_000;

/** The workers that reported within 10 seconds; undefined when Redis is unavailable. */
export async function liveWorkers(redis: Redis): Promise<WorkerReport[] | undefined> {
  const all = await redis.hgetall(WORKERS).catch(() => undefined);
  if (!all) return undefined;
  const reports = Object.values(all).map((text) => JSON.parse(text) as WorkerReport & { at: number });
  return reports.filter(({ at }) => Date.now() - at < VALID_MS);
}

/** Slots of all live workers; undefined when Redis is unavailable. */
export async function countWorkerSlots(redis: Redis): Promise<number | undefined> {
  const workers = await liveWorkers(redis);
  return workers?.reduce((total, { slots }) => total + slots, 0);
}

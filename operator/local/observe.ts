// Observes the stores and the server.
import { accessSync, constants } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { gib, isLow, reserveOf } from '../disk-space.ts';
import { demandOf } from '../media-server/transcode-demand.ts';
import type { PoolDemand } from '../media-server/transcode-pool.ts';
import { exchange } from '../server-api/exchange.ts';
import { answersHttp } from '../server-api/server-client.ts';
import type { Child, Probe } from './child.ts';
import { queryPostgres } from './postgres.ts';
import type { Role } from './process-spec.ts';
import { isProgram } from './programs.ts';
import { queryRedis } from './redis.ts';
import type { Health } from './verdicts.ts';

/** Answers while the event loop turns, whatever the state of the stores. */
const LIVE = '/live';
const WORKER_SETTLED_MS = 3000;
const REPORT_AGE_MS = 10_000;
/** Redis hash in which transcode workers report, renewed every 3 s. */
const WORKERS = 'foyer:transcode:workers';

/** Describes low disk space of the data directory. Below the second limit the server reserves the rest for Postgres. */
export async function seeDisk(dir: string): Promise<string | undefined> {
  const found = await statfs(dir).catch(() => undefined);
  if (!found) return undefined;
  const { bavail, blocks, bsize } = found;
  const [free, total] = [bavail * bsize, blocks * bsize];
  if (!isLow({ free, total })) return undefined;
  const reserve = reserveOf(total);
  const of = `The disk of ${dir} has ${gib(free)} of ${gib(total)} GiB free`;
  if (free >= reserve)
    return `${of}; below ${gib(reserve)} GiB the server stores no more segments and pictures: free some space`;
  return `${of}: the server stores no segments and pictures until there is more; free some space`;
}

/** A folder must be writable; the state of a bucket comes from the server. */
export function seeObjects(url: string, health: Record<string, string>): Health {
  if (!url.startsWith('file:')) return health.objects === 'ok' || `the server reports ${health.objects ?? 'not yet'}`;
  try {
    accessSync(new URL(url), constants.W_OK);
    return true;
  } catch (error) {
    return (error as Error).message;
  }
}

export async function countTranscodeWorkers(url: string, now = Date.now()): Promise<number> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 1000,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => undefined); // the awaits below report it
  try {
    await redis.connect();
    const reports = Object.values(await redis.hgetall(WORKERS));
    return reports.filter((text) => now - (JSON.parse(text) as { at: number }).at < REPORT_AGE_MS).length;
  } catch {
    return 0;
  } finally {
    redis.disconnect();
  }
}

/** The text of /metrics, from the first API process that answers. */
export async function seeMetrics(apis: readonly Child[]): Promise<string | undefined> {
  for (const { metricsPort } of apis.filter(({ state }) => state === 'ready')) {
    const sent = { timeoutMs: 2000 };
    const answer = await exchange(`http://127.0.0.1:${metricsPort}/metrics`, sent).catch(() => undefined);
    if (answer?.status === 200) return answer.text;
  }
  return undefined;
}

/** Demand on the transcode pool. */
export async function seeDemand(apis: readonly Child[]): Promise<PoolDemand | undefined> {
  const text = await seeMetrics(apis);
  return text === undefined ? undefined : demandOf(text);
}

export const hasFfmpeg = (): boolean => ['ffmpeg', 'ffprobe'].every((name) => isProgram(name));

/** Probes the process's own port, which opens after the shared port: another process may answer there. */
export const apiProbe: Probe = (child) => answersHttp(child.metricsPort, LIVE);

/** The probes of all roles. Without known stores their processes count as ready. */
export function localProbes(
  stores: () => { databaseUrl: string; redisUrl: string } | undefined,
): Partial<Record<Role, Probe>> {
  const worker = workerProbe();
  const answers = async (query: (url: string) => Promise<Health>, url: string | undefined) =>
    url === undefined || (await query(url)) === true;
  return {
    api: apiProbe,
    worker,
    transcode: worker,
    speech: worker,
    tuner: worker,
    postgres: () => answers(queryPostgres, stores()?.databaseUrl),
    redis: () => answers(queryRedis, stores()?.redisUrl),
  };
}

/** Probes the process's own port. A process without such a port is considered ready after a while. */
export function workerProbe(): Probe {
  const answered = new WeakSet<Child>();
  const since = new WeakMap<Child, { pid: number | undefined; at: number }>();
  return async (child) => {
    const began = since.get(child);
    const at = began?.pid === child.pid && began ? began.at : Date.now();
    since.set(child, { pid: child.pid, at });
    const answers = await answersHttp(child.metricsPort, LIVE).catch(() => false);
    if (answers) answered.add(child);
    return answers || (!answered.has(child) && Date.now() - at > WORKER_SETTLED_MS);
  };
}

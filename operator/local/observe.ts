// Looks at the stores and the server as they are now.
import { accessSync, constants } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { gib, isLow, reserveOf } from '../disk-space.ts';
import { demandOf } from '../media-server/transcode-demand.ts';
import type { PoolDemand } from '../media-server/transcode-pool.ts';
import { exchange } from '../server-api/exchange.ts';
import { answersHttp } from '../server-api/server-client.ts';
import type { Child, Probe } from './child.ts';
import { isProgram } from './programs.ts';
import type { Health } from './verdicts.ts';

/** Answers while the event loop turns, whatever the stores do. */
const LIVE = '/live';
const WORKER_SETTLED_MS = 3000;
const REPORT_AGE_MS = 10_000;
/** Where transcode workers report themselves, renewed every 3 s. */
const WORKERS = 'foyer:transcode:workers';

/** What is wrong with the space of the data directory: below the second limit the server keeps what is free for Postgres. */
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

/** A folder must be writable; of a bucket the server itself tells. */
export function seeObjects(url: string, health: Record<string, string>): Health {
  if (!url.startsWith('file:')) return health.objects === 'ok' || `the server sees it ${health.objects ?? 'not yet'}`;
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
  redis.on('error', () => undefined); // told by the awaits below
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

/** What the first API process that answers tells of the transcode pool. */
export async function seeDemand(apis: readonly Child[]): Promise<PoolDemand | undefined> {
  for (const { metricsPort } of apis.filter(({ state }) => state === 'ready')) {
    const sent = { timeoutMs: 2000 };
    const answer = await exchange(`http://127.0.0.1:${metricsPort}/metrics`, sent).catch(() => undefined);
    if (answer?.status === 200) return demandOf(answer.text);
  }
  return undefined;
}

export const hasFfmpeg = (): boolean => ['ffmpeg', 'ffprobe'].every((name) => isProgram(name));

/** Judged by the process's own port, which opens after the shared one: another process may answer there. */
export const apiProbe: Probe = (child) => answersHttp(child.metricsPort, LIVE);

/** Judged by the process's own port; one that serves none counts as up after a while. */
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

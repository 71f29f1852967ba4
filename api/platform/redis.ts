import { Redis } from 'ioredis';
import type { Log } from './log.ts';

export type { Redis } from 'ioredis';

/** Comes back by itself. A command fails after half a second when the server is away or hung; callers go on without it. */
export function connectRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: 1000,
    commandTimeout: 1000,
    enableOfflineQueue: true,
    retryStrategy: (times) => Math.min(100 * times, 1000),
  });
  let lastWarning = 0;
  redis.on('error', (error) => {
    if (Date.now() - lastWarning < 10_000) return;
    lastWarning = Date.now();
    log.warn({ err: error.message }, 'redis is away');
  });
  return redis;
}

/** The answer, or `otherwise` when Redis is away: nothing that matters lives only there. */
export async function withoutFail<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch {
    return otherwise;
  }
}

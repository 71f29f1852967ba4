import { Redis } from 'ioredis';
import type { Log } from './log.ts';

export type { Redis } from 'ioredis';

/** A server that takes connections and answers nothing looks well to its clients: one that does not answer a look is left. */
class Watched extends Redis {
  #looking = false;

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(...sent);
    sent[0].promise.catch((error: Error) => {
      if (error.message === 'Command timed out') void this.#look();
    });
    return answer;
  }

  /** A second try, since a process that was busy itself finds its commands timed out before it reads their answers. */
  async #look(): Promise<void> {
    if (this.#looking || this.status !== 'ready') return;
    this.#looking = true;
    try {
      await this.ping();
    } catch {
      this.disconnect(true);
    } finally {
      this.#looking = false;
    }
  }
}

/**
 * Comes back by itself. A command fails after a second, and at once while the server is known to be away or hung; callers
 * go on without it. Of its duplicates those that subscribe or wait need `enableOfflineQueue`.
 */
export function connectRedis(url: string, log: Log): Redis {
  const redis = new Watched(url, {
    maxRetriesPerRequest: 1,
    connectTimeout: 1000,
    commandTimeout: 1000,
    enableOfflineQueue: true, // until the first connection
    retryStrategy: (times) => Math.min(100 * times, 1000),
  });
  redis.on('close', () => {
    redis.options.enableOfflineQueue = false;
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

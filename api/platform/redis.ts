import { Redis } from 'ioredis';
import type { Log } from './log.ts';

export type { Redis } from 'ioredis';

/**
 * A server that accepts connections but does not answer looks healthy to its clients, so the connection is dropped when
 * a ping fails.
 */
class Watched extends Redis {
  #looking = false;

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(...sent);
    sent[0].promise.catch((error: Error) => {
      if (error.message === 'Command timed out') void this.#look();
    });
    return answer;
  }

  /** Tries twice, because a process that was busy itself sees its commands time out before it reads the responses. */
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
 * Reconnects by itself. A command fails after a second, and at once while the server is known to be unavailable or
 * hung; callers continue without it. Duplicates that subscribe or block need `enableOfflineQueue`.
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
    log.warn({ err: error.message }, 'redis is unavailable');
  });
  return redis;
}

/** The result, or `otherwise` while Redis is unavailable: nothing essential is stored only there. */
export async function withoutFail<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch {
    return otherwise;
  }
}

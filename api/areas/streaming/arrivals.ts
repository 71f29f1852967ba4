import type { Redis } from '#platform/redis.ts';
import { readyChannel } from './offers.store.ts';

interface Channel {
  listeners: number;
  wake: Set<() => void>;
}

/** Wakes requests that wait for a segment; one subscription a session and process, however many wait. */
export class Arrivals {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Channel>();

  constructor(redis: Redis) {
    this.#redis = redis.duplicate();
    this.#redis.on('error', () => undefined); // the first connection tells; without Redis the waiting look every second
    this.#redis.on('message', (name: string) => {
      for (const wake of this.#channels.get(name)?.wake ?? []) wake();
    });
  }

  /** Listens until the returned function is called. */
  async listen(sessionId: string): Promise<() => void> {
    const name = readyChannel(sessionId);
    const channel = this.#channels.get(name) ?? { listeners: 0, wake: new Set() };
    channel.listeners += 1;
    this.#channels.set(name, channel);
    if (channel.listeners === 1) await this.#redis.subscribe(name).catch(() => undefined);
    return () => {
      channel.listeners -= 1;
      if (channel.listeners > 0) return;
      this.#channels.delete(name);
      this.#redis.unsubscribe(name).catch(() => undefined);
    };
  }

  /** Resolves at the next news of the session, when `gone` aborts, or after `limitMs`. */
  async next(sessionId: string, limitMs: number, gone: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const channel = this.#channels.get(readyChannel(sessionId));
    channel?.wake.add(wake);
    gone.addEventListener('abort', wake);
    const timer = setTimeout(wake, limitMs);
    await promise;
    clearTimeout(timer);
    gone.removeEventListener('abort', wake);
    channel?.wake.delete(wake);
  }

  stop(): void {
    this.#redis.disconnect();
  }
}

const byRedis = new WeakMap<Redis, Arrivals>();

/** The one of this process. */
export function arrivalsOf(redis: Redis): Arrivals {
  const known = byRedis.get(redis);
  if (known) return known;
  const made = new Arrivals(redis);
  redis.once('end', () => made.stop());
  byRedis.set(redis, made);
  return made;
}

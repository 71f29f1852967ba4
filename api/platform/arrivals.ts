import type { Redis } from './redis.ts';

const LOOK_MS = 1000;

interface Channel {
  listeners: number;
  /** News so far, so that none is lost while a request looks. */
  news: number;
  wake: Set<() => void>;
}

/** Wakes requests that wait for news on a Redis channel. A process has one subscription for each channel. */
export class Arrivals {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Channel>();

  constructor(redis: Redis) {
    this.#redis = redis.duplicate({ enableOfflineQueue: true });
    this.#redis.on('error', () => undefined); // the first connection reports errors; without Redis, requests look every second
    this.#redis.on('message', (name: string) => {
      const channel = this.#channels.get(name);
      if (!channel) return;
      channel.news += 1;
      for (const wake of channel.wake) wake();
    });
  }

  /** Listens until the returned function is called. */
  async listen(name: string): Promise<() => void> {
    const channel = this.#channels.get(name) ?? { listeners: 0, news: 0, wake: new Set() };
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

  /** Number of news of the channel. Read it before looking and pass it to `next`. */
  heard(name: string): number {
    return this.#channels.get(name)?.news ?? 0;
  }

  /** Resolves at news beyond `heard`, when `gone` aborts, or after a second, because Redis may be unavailable. */
  async next(name: string, { heard, gone }: { heard: number; gone: AbortSignal }): Promise<void> {
    const channel = this.#channels.get(name);
    if (!channel || channel.news > heard || gone.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    channel.wake.add(wake);
    gone.addEventListener('abort', wake);
    const timer = setTimeout(wake, LOOK_MS);
    await promise;
    clearTimeout(timer);
    gone.removeEventListener('abort', wake);
    channel.wake.delete(wake);
  }

  stop(): void {
    this.#redis.disconnect();
  }
}

const byRedis = new WeakMap<Redis, Arrivals>();

/** The instance of this process. */
export function arrivalsOf(redis: Redis): Arrivals {
  const known = byRedis.get(redis);
  if (known) return known;
  const made = new Arrivals(redis);
  redis.once('end', () => made.stop());
  byRedis.set(redis, made);
  return made;
}

import type { Redis } from '#platform/redis.ts';
import { readyChannel } from '../sessions/offers.store.ts';

const LOOK_MS = 1000;

interface Channel {
  listeners: number;
  /** News so far: one that comes while a request looks is not lost. */
  news: number;
  wake: Set<() => void>;
}

/** Wakes requests that wait for a segment; one subscription a session and process, however many wait. */
export class Arrivals {
  readonly #redis: Redis;
  readonly #channels = new Map<string, Channel>();

  constructor(redis: Redis) {
    this.#redis = redis.duplicate({ enableOfflineQueue: true });
    this.#redis.on('error', () => undefined); // the first connection tells; without Redis the waiting look every second
    this.#redis.on('message', (name: string) => {
      const channel = this.#channels.get(name);
      if (!channel) return;
      channel.news += 1;
      for (const wake of channel.wake) wake();
    });
  }

  /** Listens until the returned function is called. */
  async listen(sessionId: string): Promise<() => void> {
    const name = readyChannel(sessionId);
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

  /** How much was heard of the session: taken before looking, and given to `next`. */
  heard(sessionId: string): number {
    return this.#channels.get(readyChannel(sessionId))?.news ?? 0;
  }

  /** Resolves at news beyond `heard`, when `gone` aborts, or after a second: Redis may be away. */
  async next(sessionId: string, { heard, gone }: { heard: number; gone: AbortSignal }): Promise<void> {
    const channel = this.#channels.get(readyChannel(sessionId));
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

/** The one of this process. */
export function arrivalsOf(redis: Redis): Arrivals {
  const known = byRedis.get(redis);
  if (known) return known;
  const made = new Arrivals(redis);
  redis.once('end', () => made.stop());
  byRedis.set(redis, made);
  return made;
}

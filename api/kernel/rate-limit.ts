import { randomUUID } from 'node:crypto';
import { peersKnown } from '#platform/peers.ts';
import type { Redis } from '#platform/redis.ts';
import { ApiError } from './errors.ts';

const MINUTE = 60_000;

// Every attempt counts, including refused ones.
const SLIDING = `
  local now = redis.call('TIME'); local ms = now[1] * 1000 + math.floor(now[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ms - ARGV[2])
  redis.call('ZADD', KEYS[1], ms, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  local n = redis.call('ZCARD', KEYS[1])
  if n > 1000 then redis.call('ZREMRANGEBYRANK', KEYS[1], 0, n - 1001) end
  return n`;

const FIXED = `
  local n = redis.call('INCR', KEYS[1])
  if n == 1 then redis.call('PEXPIRE', KEYS[1], 60000) end
  return { n, redis.call('PTTL', KEYS[1]) }`;

const own = new Map<string, number[]>();

/** Without Redis each pod applies the limit divided by the replicas, so limits never open. */
function countHere(key: string, now: number, windowMs = MINUTE): number {
  const recent = (own.get(key) ?? []).filter((at) => at > now - windowMs);
  recent.push(now);
  own.delete(key); // moves the key to the end: the least recently used are dropped first
  own.set(key, recent.slice(-1000));
  const [oldest] = own.keys();
  if (own.size > 10_000 && oldest !== undefined) own.delete(oldest);
  return recent.length;
}

/** The number of pods can change at any time, so pods count each other while Redis is available. */
const shares = (replicas: number): number => Math.max(replicas, peersKnown());

export interface Limiter {
  redis: Redis;
  /** Number of replicas in the configuration of this process. */
  replicas: number;
  /** Absent is a minute. */
  windowMs?: number;
}

/** Counts an attempt of `key` and returns how many are left. Throws 429 over `limit` attempts in the window, across all replicas. */
export async function limitAttempts(
  { redis, replicas, windowMs = MINUTE }: Limiter,
  key: string,
  limit: number,
): Promise<number> {
  const name = `limit:${key}`;
  let tried: number;
  let allowed = limit;
  try {
    tried = Number(await redis.eval(SLIDING, 1, name, randomUUID(), windowMs));
  } catch {
    tried = countHere(name, Date.now(), windowMs);
    allowed = Math.max(1, Math.floor(limit / shares(replicas)));
  }
  if (tried > allowed)
    throw new ApiError('RATE_LIMITED', 'Too many attempts; wait a while', { retryAfterSec: windowMs / 1000 });
  return allowed - tried;
}

/** Attempts that `key` has left, without counting one; without Redis all of `limit`. */
export async function attemptsLeft({ redis, windowMs = MINUTE }: Limiter, key: string, limit: number): Promise<number> {
  const tried = await redis.zcount(`limit:${key}`, Date.now() - windowMs, '+inf').catch(() => 0);
  return Math.max(0, limit - tried);
}

/** Resets the attempts of `key`. */
export async function forgetAttempts({ redis }: Limiter, key: string): Promise<void> {
  own.delete(`limit:${key}`);
  await redis.del(`limit:${key}`).catch(() => 0);
}

export interface Allowance {
  limit: number;
  remaining: number;
  resetSec: number;
}

/** Counts a request of an API key in its minute; the response carries the result in `X-RateLimit-*`. */
export async function countKeyRequest({ redis, replicas }: Limiter, keyId: string, limit: number): Promise<Allowance> {
  const name = `key:${keyId}`;
  try {
    const [used, leftMs] = (await redis.eval(FIXED, 1, name)) as [number, number];
    return { limit, remaining: limit - used, resetSec: Math.max(1, Math.ceil(leftMs / 1000)) };
  } catch {
    const share = Math.ceil(limit / shares(replicas));
    return { limit, remaining: share - countHere(name, Date.now()), resetSec: 60 };
  }
}

/** A limit of this process only, for responses that must not wait for Redis. */
export function limitHere(key: string, limit: number, windowMs = MINUTE): void {
  if (countHere(key, Date.now(), windowMs) <= limit) return;
  throw new ApiError('RATE_LIMITED', 'Too many requests', { retryAfterSec: Math.ceil(windowMs / 1000) });
}

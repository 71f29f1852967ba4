// The number of API processes as last read from Redis, kept for when Redis is unavailable.
import type { Redis } from './redis.ts';

const KEY = 'foyer:apis';
/** Three rounds: a process without a sign of life for this long is not counted. */
const LIVES_MS = 15_000;

const NOTE = `
  local now = redis.call('TIME'); local ms = now[1] * 1000 + math.floor(now[2] / 1000)
  redis.call('ZADD', KEYS[1], ms, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ms - ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;

let known = 1;

/** Registers this process; failing to do so has no effect. */
export async function notePeer(redis: Redis, pod: string): Promise<void> {
  known = await redis.eval(NOTE, 1, KEY, pod, LIVES_MS).then(Number, () => known);
}

export const peersKnown = (): number => known;

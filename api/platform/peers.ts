// How many API processes there are, as Redis knew last: once it is away nobody can ask.
import type { Redis } from './redis.ts';

const KEY = 'foyer:apis';
/** Three looks: a process that says nothing for so long is not counted. */
const LIVES_MS = 15_000;

const NOTE = `
  local now = redis.call('TIME'); local ms = now[1] * 1000 + math.floor(now[2] / 1000)
  redis.call('ZADD', KEYS[1], ms, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ms - ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('ZCARD', KEYS[1])`;

let known = 1;

/** This process is one of them. What cannot be noted changes nothing. */
export async function notePeer(redis: Redis, pod: string): Promise<void> {
  known = await redis.eval(NOTE, 1, KEY, pod, LIVES_MS).then(Number, () => known);
}

export const peersKnown = (): number => known;

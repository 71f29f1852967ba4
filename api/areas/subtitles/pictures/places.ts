// Places for work of which the whole server does only a little at once, counted in Redis.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '#platform/redis.ts';

/** At most `places` work, and `line` wait. */
export interface PlaceLimits {
  name: string;
  places: number;
  line: number;
  /** The longest wait. */
  waitMs: number;
}

type State = 'new' | 'waiting' | 'working';

const LOOK_MS = 100;
/** A holder that reports nothing for so long is dead, and its place is free. */
const ALIVE_MS = 5000;
/** How often a holder reports its state. */
const BEAT_MS = 200;
/** So long after it was emptied, Redis gives out no place, because holders have not yet reported their state again. */
const LEARNS_MS = 2.5 * BEAT_MS;

// Tokens begin with the time of their arrival. KEYS[3] is the time since which Redis has not been emptied.
const STEP = `
  local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)
  local function keep(key)
    redis.call('ZADD', key, now + ARGV[3], ARGV[1]); redis.call('PEXPIRE', key, ARGV[3])
  end
  redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], 0, now)
  if ARGV[2] == 'working' then keep(KEYS[1]) return 'working' end
  redis.call('SET', KEYS[3], now, 'NX')
  local knows = now - redis.call('GET', KEYS[3]) >= tonumber(ARGV[6])
  local line = redis.call('ZRANGE', KEYS[2], 0, -1)
  local ahead = redis.call('ZCARD', KEYS[1])
  for _, other in ipairs(line) do if other < ARGV[1] then ahead = ahead + 1 end end
  if knows and ahead < tonumber(ARGV[4]) then redis.call('ZREM', KEYS[2], ARGV[1]); keep(KEYS[1]) return 'working' end
  if ARGV[2] == 'new' and #line >= tonumber(ARGV[5]) then return 'full' end
  keep(KEYS[2]) return 'waiting'`;

/** Those of this process, which alone count while Redis is unavailable. */
const here = new Map<string, Map<string, State>>();

function stepHere({ name, places, line }: PlaceLimits, token: string): State | 'full' {
  const mine = here.get(name) ?? new Map<string, State>();
  const of = (state: State): number => [...mine.values()].filter((one) => one === state).length;
  const before = [...mine].filter(([other, state]) => state === 'waiting' && other < token).length;
  if (mine.get(token) === 'working' || of('working') + before < places) return 'working';
  return mine.get(token) === 'new' && of('waiting') >= line ? 'full' : 'waiting';
}

/**
 * Runs `work` as soon as a place is free, in the order of arrival. Undefined when the line is full or the wait is too
 * long. Throws when `signal` aborts while it waits; the place is free then, and after the work.
 */
export async function inPlace<T>(
  { redis, signal }: { redis: Redis; signal: AbortSignal },
  limits: PlaceLimits,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const token = `${String(Date.now()).padStart(15, '0')}-${randomUUID()}`;
  const keys = ['working', 'waiting', 'since'].map((part) => `{places:${limits.name}}:${part}`);
  const mine = here.get(limits.name) ?? new Map<string, State>();
  here.set(limits.name, mine.set(token, 'new'));
  const step = async (): Promise<State | 'full'> => {
    const sent = [token, mine.get(token) ?? 'new', ALIVE_MS, limits.places, limits.line, LEARNS_MS];
    const next = (await redis.eval(STEP, 3, ...keys, ...sent).catch(() => stepHere(limits, token))) as State | 'full';
    if (next !== 'full' && mine.has(token)) mine.set(token, next); // a beat may end after the work
    return next;
  };
  let alive: NodeJS.Timeout | undefined;
  try {
    for (const end = Date.now() + limits.waitMs; ; await sleep(LOOK_MS, undefined, { signal })) {
      signal.throwIfAborted();
      const state = await step();
      if (state === 'working') break;
      if (state === 'full' || Date.now() > end) return undefined;
    }
    alive = setInterval(() => void step(), BEAT_MS);
    return await work();
  } finally {
    clearInterval(alive);
    mine.delete(token);
    await Promise.all(keys.slice(0, 2).map((key) => redis.zrem(key, token).catch(() => 0)));
  }
}

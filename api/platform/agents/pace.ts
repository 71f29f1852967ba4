import type { Redis } from '../redis.ts';
import type { Agent, CatalogueId } from './agent.ts';
import type { FaultReason } from './fault.ts';

const MINUTE = 60_000;
const PAUSE_MOST_MS = 30 * MINUTE;
/** Failures this long ago no longer lengthen the next pause. */
const FORGOTTEN_SEC = 3600;
/** Processes that may send at the same time while no Redis counts them. */
const ASSUMED_PROCESSES = 4;

// Reserves the next time slot of the agent, unless it is paused or the slot is later than the caller waits.
const TAKE = `
  local paused = redis.call('PTTL', KEYS[2])
  if paused > 0 then return { -1, paused, redis.call('GET', KEYS[2]) } end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local every, burst, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local slot = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now))
  local wait = math.max(0, slot - now - (burst - 1) * every)
  if wait > most then return { -2, wait, 'rate-limited' } end
  redis.call('SET', KEYS[1], string.format('%.0f', slot + every), 'PX', math.ceil(slot + every - now) + 1000)
  return { redis.call('EXISTS', KEYS[3]), wait, '' }`;

// Each further failure doubles the pause.
const PAUSE = `
  local fails = redis.call('INCR', KEYS[2])
  redis.call('EXPIRE', KEYS[2], ARGV[4])
  local ms = tonumber(ARGV[2])
  if ms == 0 then ms = math.min(tonumber(ARGV[3]), 60000 * 2 ^ (fails - 1)) end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', math.floor(ms))
  return math.floor(ms)`;

export interface Slot {
  /** Time to wait before the request, or until another attempt makes sense. */
  waitMs: number;
  /** The reason for which no request is sent now. */
  closed?: FaultReason;
  /** Failures lengthen the next pause until an answer is noted. */
  hasFailed?: boolean;
}

/** Redis is unavailable: this process keeps its share of the rate. */
interface Own {
  slotMs: number;
  pausedUntil: number;
  reason: FaultReason;
  fails: number;
}
const own = new Map<string, Own>();
const ownOf = (id: string): Own => {
  const known = own.get(id) ?? { slotMs: 0, pausedUntil: 0, reason: 'unreachable' as const, fails: 0 };
  own.set(id, known);
  return known;
};

const slotKey = (id: string): string => `agent:${id}:slot`;
const pauseKey = (id: string): string => `agent:${id}:pause`;
const failsKey = (id: string): string => `agent:${id}:fails`;

/** Reserves the next request of the agent over all processes. `mostMs` is how long the caller waits for its turn. */
export async function takeSlot(
  redis: Redis,
  { id, rate }: Pick<Agent, 'rate'> & { id: string },
  mostMs: number,
): Promise<Slot> {
  try {
    const [state, waitMs, reason] = (await redis.eval(
      ...([TAKE, 3, slotKey(id), pauseKey(id), failsKey(id)] as const),
      ...([rate.everyMs, rate.burst, Math.max(0, Math.floor(mostMs))] as const),
    )) as [number, number, FaultReason];
    return state < 0 ? { waitMs, closed: reason } : { waitMs, hasFailed: state > 0 || own.has(id) };
  } catch {
    return takeHere(id, rate.everyMs * ASSUMED_PROCESSES, mostMs);
  }
}

function takeHere(id: string, everyMs: number, mostMs: number): Slot {
  const mine = ownOf(id);
  const now = Date.now();
  if (mine.pausedUntil > now) return { waitMs: mine.pausedUntil - now, closed: mine.reason };
  const waitMs = Math.max(0, mine.slotMs - now);
  if (waitMs > mostMs) return { waitMs, closed: 'rate-limited' };
  mine.slotMs = Math.max(now, mine.slotMs) + everyMs;
  return { waitMs, hasFailed: mine.fails > 0 };
}

/**
 * Sends no request to the agent for a while: for `forMs`, or 1 minute that doubles with each failure up to 30. Returns
 * the length of the pause.
 */
export async function pauseAgent(
  redis: Redis,
  id: string,
  { reason, forMs }: { reason: FaultReason; forMs?: number | undefined },
): Promise<number> {
  const given = forMs === undefined ? 0 : Math.min(PAUSE_MOST_MS, Math.max(1, Math.ceil(forMs)));
  const mine = ownOf(id);
  mine.fails += 1;
  mine.reason = reason;
  const here = given || Math.min(PAUSE_MOST_MS, MINUTE * 2 ** Math.min(10, mine.fails - 1));
  mine.pausedUntil = Date.now() + here;
  const keys = [pauseKey(id), failsKey(id)] as const;
  return redis.eval(PAUSE, 2, ...keys, reason, given, PAUSE_MOST_MS, FORGOTTEN_SEC).then(Number, () => here);
}

/** After an answer: the next failure begins with a short pause again. */
export async function noteAnswered(redis: Redis, id: string): Promise<void> {
  own.delete(id);
  await redis.del(failsKey(id)).catch(() => 0);
}

/** Ends pauses, such as after a new key. */
export async function resumeAgents(redis: Redis, ids: readonly CatalogueId[]): Promise<void> {
  for (const id of ids) own.delete(id);
  if (ids.length > 0) await redis.del(...ids.flatMap((id) => [pauseKey(id), failsKey(id)])).catch(() => 0);
}

/** The reasons for which agents are paused now; none while Redis is unavailable. */
export async function pausedAgents(redis: Redis, ids: readonly CatalogueId[]): Promise<Map<CatalogueId, FaultReason>> {
  const reasons = await redis.mget(ids.map(pauseKey)).catch(() => []);
  return new Map(ids.flatMap((id, at) => (reasons[at] ? [[id, reasons[at] as FaultReason] as const] : [])));
}

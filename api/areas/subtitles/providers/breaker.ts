// Sends no requests to a provider for a while after failures. Redis counts for all processes; without it each counts for itself.
import type { Redis } from '#platform/redis.ts';
import { type FaultReason, ProviderFault } from './provider.ts';

const MOST_FAILS = 5;
const WINDOW_MS = 60_000;
const OPEN_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;

/** All of a provider, or only its downloads. */
export type Circuit = string;

const COUNT = `
  local fails = redis.call('INCR', KEYS[1])
  if fails == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  if fails >= tonumber(ARGV[1]) then
    redis.call('SET', KEYS[2], 'error', 'PX', ARGV[3])
    redis.call('DEL', KEYS[1])
  end
  return fails`;

const failsKey = (circuit: Circuit): string => `subtitles:${circuit}:fails`;
const openKey = (circuit: Circuit): string => `subtitles:${circuit}:open`;

interface Own {
  fails: number[];
  openUntil: number;
  reason: FaultReason;
}
const own = new Map<Circuit, Own>();
const ownOf = (circuit: Circuit): Own => {
  const known = own.get(circuit) ?? { fails: [], openUntil: 0, reason: 'error' as const };
  own.set(circuit, known);
  return known;
};

/** Why the provider gets no requests now, and for how long. */
export async function openFor(
  redis: Redis,
  circuit: Circuit,
): Promise<{ reason: FaultReason; forMs: number } | undefined> {
  try {
    const [forMs, reason] = await Promise.all([redis.pttl(openKey(circuit)), redis.get(openKey(circuit))]);
    return forMs > 0 ? { reason: (reason ?? 'error') as FaultReason, forMs } : undefined;
  } catch {
    const { openUntil, reason } = ownOf(circuit);
    return openUntil > Date.now() ? { reason, forMs: openUntil - Date.now() } : undefined;
  }
}

/** Throws the fault for which the provider gets no requests. */
export async function admit(redis: Redis, circuit: Circuit): Promise<void> {
  const open = await openFor(redis, circuit);
  if (open) throw new ProviderFault(open.reason, 'the provider gets no requests now', Math.ceil(open.forMs / 1000));
}

/** Counts a failure; five in a minute close the provider for a minute. */
export async function noteFailure(redis: Redis, circuit: Circuit): Promise<void> {
  const mine = ownOf(circuit);
  mine.fails = [...mine.fails.filter((at) => at > Date.now() - WINDOW_MS), Date.now()];
  if (mine.fails.length >= MOST_FAILS)
    Object.assign(mine, { fails: [], openUntil: Date.now() + OPEN_MS, reason: 'error' });
  await redis
    .eval(COUNT, 2, failsKey(circuit), openKey(circuit), MOST_FAILS, WINDOW_MS, OPEN_MS)
    .catch(() => undefined);
}

/** Closes the provider for a time: the one that it stated, or one after a refusal. */
export async function pause(
  redis: Redis,
  circuit: Circuit,
  { forSec, reason }: { forSec: number; reason: 'quota' | 'refused' },
): Promise<void> {
  const forMs = Math.min(LONGEST_MS, Math.max(1000, forSec * 1000));
  Object.assign(ownOf(circuit), { openUntil: Date.now() + forMs, reason });
  await redis.set(openKey(circuit), reason, 'PX', forMs).catch(() => undefined);
}

/** After an answer, the next failure is the first again. */
export async function noteSuccess(redis: Redis, circuit: Circuit): Promise<void> {
  own.delete(circuit);
  await redis.del(failsKey(circuit)).catch(() => 0);
}

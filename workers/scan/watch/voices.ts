import type { Seen } from '#areas/storage/public.ts';
import { withoutFail } from '#platform/redis.ts';
import type { WorkerDeps } from '#workers/work.ts';

/** What a worker sees of a storage or a folder. */
export interface Sight {
  observed: Seen;
  reason: string | null;
}

export const FINE: Sight = { observed: 'available', reason: null };

/** A worker without a report for this long is ignored. */
const VOICE_MS = 60_000;

type Voice = Sight & { at: number };

/**
 * The sight that most workers share; with two, neither outvotes the other. When only some cannot read it, the storage is
 * degraded. Without Redis each worker uses its own sight.
 */
export async function agreedSight({ redis, config }: WorkerDeps, id: string, own: Sight): Promise<Sight> {
  const key = `foyer:storage-seen:${id}`;
  const now = Date.now();
  const voices = await withoutFail(async () => {
    await redis.hset(key, config.pod, JSON.stringify({ seen: own.observed, reason: own.reason, at: now }));
    await redis.pexpire(key, VOICE_MS);
    return Object.values(await redis.hgetall(key)).map((text): Voice => {
      const { seen, ...rest } = JSON.parse(text) as { seen: Seen; reason: string | null; at: number };
      return { observed: seen, ...rest };
    });
  }, []);
  const heard = voices.filter(({ at }) => now - at < VOICE_MS);
  return heard.length === 0 ? own : decide(heard);
}

function decide(heard: readonly Voice[]): Sight {
  const against = heard.filter(({ observed }) => observed === 'unavailable' || observed === 'suspect');
  const [first] = against;
  if (first && against.length * 2 > heard.length) return { observed: first.observed, reason: first.reason };
  if (first) return { observed: 'degraded', reason: 'some-pods-only' };
  const weak = heard.filter(({ observed }) => observed === 'degraded');
  const [one] = weak;
  return one && weak.length * 2 > heard.length ? { observed: 'degraded', reason: one.reason } : FINE;
}

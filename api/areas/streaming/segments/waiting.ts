import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';
import { announceReady } from '../sessions/offers.store.ts';
import { findSession, type SessionRow } from '../sessions/sessions.store.ts';
import { arrivalsOf } from './arrivals.ts';

const WAIT_MS = 30_000;
const MOST_WAITING = 8;

interface Wait<T> {
  /** What is waited for, once it is there. */
  look: () => Promise<T | undefined>;
  /** After each look in vain, with the session as it is by now. */
  inVain: (row: SessionRow) => Promise<void>;
  /** Of one that was asked for by its name: what is done once the last client that waits for it went away. */
  asked?: { name: string; withdraw: () => Promise<unknown> };
}

/**
 * Looks until it is there, 30 seconds at most. Of all requests that wait for a session, whichever pod they wait in, the
 * oldest gives up when there are more than eight.
 */
export async function waitUntil<T>(call: Call, sessionId: string, { look, inVain, asked }: Wait<T>): Promise<T> {
  const { db, redis } = call.deps;
  const arrivals = arrivalsOf(redis);
  const silence = await arrivals.listen(sessionId);
  const place = await takePlace(redis, sessionId, asked?.name);
  try {
    for (const end = Date.now() + WAIT_MS; ; ) {
      const heard = arrivals.heard(sessionId);
      const found = await look();
      if (found !== undefined) return found;
      if (call.signal.aborted || (await place.isLost())) throw busy(1);
      if (Date.now() > end) throw busy(5);
      await inVain(refuseFailed(await findSession(db, sessionId)));
      await arrivals.next(sessionId, { heard, gone: call.signal });
    }
  } finally {
    silence();
    const isLast = await place.leave();
    if (call.signal.aborted && isLast) await asked?.withdraw();
  }
}

const busy = (retryAfterSec: number): ApiError =>
  new ApiError('TRANSCODE_LIMIT_REACHED', 'No worker made it in time', { retryAfterSec });

/** The session when something may still come of it. */
export function refuseFailed(row: SessionRow | undefined): SessionRow {
  if (!row || row.stopped_at) throw notFound(); // a failed one that was stopped too
  if (row.state !== 'failed') return row;
  const { reason = 'decode', segment = 0 } = row.error ?? {};
  throw new ApiError('TRANSCODE_FAILED', 'The file could not be transcoded', { reason, segment });
}

let cameLast = 0;
/** Ms of the clock, in the order of coming also for those of one millisecond. */
const comingTime = (): number => {
  cameLast = Math.max(Date.now(), cameLast + 0.001);
  return cameLast;
};

interface Place {
  isLost: () => Promise<boolean>;
  /** Whether nobody else waits for the same. */
  leave: () => Promise<boolean>;
}

/** A place among the waiting in Redis; the oldest is pushed out and woken. While Redis is away nobody is. */
async function takePlace(redis: Redis, sessionId: string, name = ''): Promise<Place> {
  const key = `foyer:transcode:waiting:${sessionId}`;
  const own = `${name} ${newId()}`;
  const now = comingTime();
  const taken = await withoutFail(
    () =>
      redis
        .multi()
        .zremrangebyscore(key, 0, now - 2 * WAIT_MS) // of pods that died
        .zadd(key, now, own)
        .zremrangebyrank(key, 0, -1 - MOST_WAITING)
        .pexpire(key, 2 * WAIT_MS)
        .exec(),
    null,
  );
  if (taken && Number(taken[2]?.[1]) > 0) await announceReady(redis, sessionId, 'crowded');
  return {
    isLost: async () => taken !== null && (await withoutFail(() => redis.zscore(key, own), '')) === null,
    leave: async () => {
      const left = await withoutFail(() => redis.multi().zrem(key, own).zrange(key, '0', '-1').exec(), null);
      return !((left?.[1]?.[1] ?? []) as string[]).some((other) => other.startsWith(`${name} `));
    },
  };
}

import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { arrivalsOf } from '#platform/arrivals.ts';
import { newId } from '#platform/ids.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';
import { announceReady, readyChannel } from '../sessions/offers.store.ts';
import { findSession, type SessionRow } from '../sessions/sessions.store.ts';

const WAIT_MS = 30_000;
const MOST_WAITING = 8;

interface Wait<T> {
  /** Returns the result once it exists. */
  look: () => Promise<T | undefined>;
  /** Runs after each look without a result, with the current session. */
  onMiss: (row: SessionRow) => Promise<void>;
  /** For a named result: `withdraw` runs when its last waiting client disconnects. */
  named?: { name: string; withdraw: () => Promise<unknown> };
}

/**
 * Looks until the result exists, for at most 30 seconds. When more than eight requests wait for a session on all
 * servers together, the oldest is rejected.
 */
export async function waitUntil<T>(call: Call, sessionId: string, { look, onMiss, named }: Wait<T>): Promise<T> {
  const { db, redis } = call.deps;
  const arrivals = arrivalsOf(redis);
  const channel = readyChannel(sessionId);
  const silence = await arrivals.listen(channel);
  const place = await takePlace(redis, sessionId, named?.name);
  try {
    for (const end = Date.now() + WAIT_MS; ; ) {
      const heard = arrivals.heard(channel);
      const found = await look();
      if (found !== undefined) return found;
      if (call.signal.aborted || (await place.isLost())) throw busy(1);
      if (Date.now() > end) throw busy(5);
      await onMiss(refuseFailed(await findSession(db, sessionId)));
      await arrivals.next(channel, { heard, gone: call.signal });
    }
  } finally {
    silence();
    const isLast = await place.leave();
    if (call.signal.aborted && isLast) await named?.withdraw();
  }
}

const busy = (retryAfterSec: number): ApiError =>
  new ApiError('TRANSCODE_LIMIT_REACHED', 'No worker made it in time', { retryAfterSec });

/** The session, unless it has failed or stopped. */
export function refuseFailed(row: SessionRow | undefined): SessionRow {
  if (!row || row.stopped_at) throw notFound(); // also a failed session that was stopped
  if (row.state !== 'failed') return row;
  const { reason = 'decode', segment = 0 } = row.error ?? {};
  throw new ApiError('TRANSCODE_FAILED', 'The file could not be transcoded', { reason, segment });
}

let lastArrival = 0;
/** The current time in ms, unique and increasing within the process. */
const arrivalTime = (): number => {
  lastArrival = Math.max(Date.now(), lastArrival + 0.001);
  return lastArrival;
};

interface Place {
  isLost: () => Promise<boolean>;
  /** True when no other request waits for the same result. */
  leave: () => Promise<boolean>;
}

/**
 * A place among the waiting requests in Redis. The oldest beyond the limit is removed and woken. Without Redis there is
 * no limit.
 */
async function takePlace(redis: Redis, sessionId: string, name = ''): Promise<Place> {
  const key = `foyer:transcode:waiting:${sessionId}`;
  const own = `${name} ${newId()}`;
  const now = arrivalTime();
  const taken = await withoutFail(
    () =>
      redis
        .multi()
        .zremrangebyscore(key, 0, now - 2 * WAIT_MS) // of servers that died
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

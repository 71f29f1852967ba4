import { Readable } from 'node:stream';
import { getVisibleItem } from '#areas/items/public.ts';
import { findSession, touchBytes } from '#areas/viewing/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';

const COUNT_MS = 5000;
const JUDGE_EVERY = 12;

/** Redis key of the bytes sent for a playback session, kept for an hour (bandwidth of Playback and Stats). */
export const sentKey = (playbackSessionId: string): string => `foyer:stream:sent:${playbackSessionId}`;

/** Bytes of this process that are not in Redis yet. */
const uncounted = new Map<string, number>();
let counting: NodeJS.Timeout | undefined;

/** Adds the sent bytes of a complete or aborted segment to its playback session, in Redis within 5 seconds. */
export function countSent({ deps }: Pick<Call, 'deps'>, playbackSessionId: string, sent: Bytes): Bytes {
  const add = (bytes: number): void => {
    uncounted.set(playbackSessionId, (uncounted.get(playbackSessionId) ?? 0) + bytes);
    counting ??= setTimeout(() => void writeCounts(deps.redis), COUNT_MS).unref();
  };
  const { body, length = 0 } = sent;
  if (body instanceof Readable) body.pause().on('data', (chunk: Buffer) => add(chunk.length));
  else if (body !== null) add(length);
  return sent;
}

async function writeCounts(redis: Redis): Promise<void> {
  const counts = [...uncounted];
  uncounted.clear();
  counting = undefined;
  const writes = redis.multi();
  for (const [id, bytes] of counts) writes.incrby(sentKey(id), bytes).expire(sentKey(id), 3600);
  await withoutFail(() => writes.exec(), null);
}

/**
 * Every 5 seconds counts the sent bytes and checks whether the session has ended; every 60 seconds checks the rights
 * again, so that a long film ends with lost access. It closes the connection, and the next request reports the reason.
 */
export function metered(call: Call, stream: Readable, of: { itemId: string; session: string | undefined }): Readable {
  let read = 0;
  let counted = 0;
  let turns = 0;
  stream.pause().on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  const count = async (): Promise<void> => {
    const bytes = read - counted;
    counted = read;
    if (!of.session || bytes === 0) return;
    await touchBytes(call.deps.db, of.session);
    const key = sentKey(of.session);
    const { redis } = call.deps;
    await withoutFail(() => redis.multi().incrby(key, bytes).expire(key, 3600).exec(), null);
  };
  const timer = setInterval(() => {
    count().catch(() => undefined);
    isOver(call, of.session).then(
      (over) => over && stream.destroy(new Error('session ended')),
      () => undefined, // an unavailable database is no reason to stop
    );
    turns += 1;
    if (turns % JUDGE_EVERY === 0) judge(call, of.itemId).catch(() => stream.destroy(new Error('access ended')));
  }, COUNT_MS);
  timer.unref();
  stream.once('close', () => {
    clearInterval(timer);
    count().catch(() => undefined);
  });
  return stream;
}

async function isOver({ deps }: Call, session: string | undefined): Promise<boolean> {
  if (session === undefined) return false;
  const row = await findSession(deps.db, session);
  return row === undefined || row.state === 'stopped';
}

/** Checks the credential and the item again, without the state of this request. */
async function judge(call: Call, itemId: string): Promise<void> {
  const who = await call.identify();
  if (!who) throw new Error('signed out');
  await getVisibleItem(call.deps.db, who, itemId);
}

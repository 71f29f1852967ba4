// Chunks that are being sent at once: so many of a file, and so many of an account, over all pods.
import { ApiError } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';

const MOST_A_FILE = 6;
const MOST_AN_ACCOUNT = 24;
/** A place that a pod did not give back. */
const LOST_MS = 15 * 60_000;
const RETRY_SEC = 2;

/** Adds a place to both sets, unless one of them is full; returns whether it did. */
const TAKE = `
  local now = redis.call('TIME')[1] * 1000
  for at = 1, 2 do redis.call('ZREMRANGEBYSCORE', KEYS[at], 0, now - ARGV[4]) end
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) or redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return 0 end
  for at = 1, 2 do redis.call('ZADD', KEYS[at], now, ARGV[1]); redis.call('PEXPIRE', KEYS[at], ARGV[4]) end
  return 1`;

/** Places of this process, which count alone while Redis is unavailable. */
const here = new Map<string, number>();

interface Sender {
  uploadId: string;
  accountId: string;
}

/** Runs `send` in a place for one chunk. Throws 429 when the file or the account has too many. */
export async function inPlace<T>(redis: Redis, sender: Sender, send: () => Promise<T>): Promise<T> {
  const keys = keysOf(sender);
  const own = newId();
  const taken = await withoutFail(
    () => redis.eval(TAKE, 2, ...keys, own, MOST_A_FILE, MOST_AN_ACCOUNT, LOST_MS) as Promise<number>,
    undefined,
  );
  if (taken === 0 || (taken === undefined && isFullHere(keys)))
    throw new ApiError('RATE_LIMITED', 'Too many chunks are being sent at once', { retryAfterSec: RETRY_SEC });
  for (const key of keys) addHere(key, 1);
  try {
    return await send();
  } finally {
    for (const key of keys) addHere(key, -1);
    if (taken) await withoutFail(() => redis.multi().zrem(keys[0], own).zrem(keys[1], own).exec(), null);
  }
}

const keysOf = ({ uploadId, accountId }: Sender): [string, string] => [
  `foyer:uploads:file:${uploadId}`,
  `foyer:uploads:account:${accountId}`,
];

const isFullHere = ([file, account]: [string, string]): boolean =>
  (here.get(file) ?? 0) >= MOST_A_FILE || (here.get(account) ?? 0) >= MOST_AN_ACCOUNT;

function addHere(key: string, by: 1 | -1): void {
  const now = (here.get(key) ?? 0) + by;
  if (now > 0) here.set(key, now);
  else here.delete(key);
}

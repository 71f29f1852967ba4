import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { attemptsLeft, forgetAttempts, type Limiter, limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';

const PER_ADDRESS = 10; // a minute
const IN_ALL = 30; // an hour
const HOUR_MS = 3_600_000;
const BLOCK_MS = 900_000;
const BLOCKED = 'claim:blocked';

const limiterOf = ({ deps }: Call): Limiter => ({ redis: deps.redis, replicas: deps.config.replicas });
const keyOf = ({ client }: Call): string => `claim:${addressGroup(client.address)}`;

/** Milliseconds until codes are taken again, of whom whoever; 0 when they are. */
async function blockedMs({ deps }: Call): Promise<number> {
  return Math.max(0, await deps.redis.pttl(BLOCKED).catch(() => 0));
}

/** Counts a try of a code; answers how many this address has left. 429 over ten a minute, and for 15 minutes after 30 in an hour in all. */
export async function countTry(call: Call): Promise<number> {
  const leftMs = await blockedMs(call);
  if (leftMs > 0) throw blocked(leftMs);
  const triesLeft = await limitAttempts(limiterOf(call), keyOf(call), PER_ADDRESS);
  const inAll = { ...limiterOf(call), windowMs: HOUR_MS };
  await limitAttempts(inAll, 'claim', IN_ALL).catch(async (error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const set = await call.deps.redis.set(BLOCKED, '1', 'PX', BLOCK_MS).catch(() => undefined);
    if (!set) throw error; // without Redis the window itself holds
    await forgetAttempts(inAll, 'claim');
    call.log.warn({ address: call.client.address }, 'too many claim codes were tried: none is taken for 15 minutes');
    throw blocked(BLOCK_MS);
  });
  return triesLeft;
}

function blocked(leftMs: number): ApiError {
  const details = { retryAfterSec: Math.ceil(leftMs / 1000) };
  return new ApiError('RATE_LIMITED', 'Too many codes were tried; wait a while', details);
}

export async function triesOf(call: Call): Promise<{ triesLeft: number; blockedUntil: string | null }> {
  const leftMs = await blockedMs(call);
  if (leftMs > 0) return { triesLeft: 0, blockedUntil: new Date(Date.now() + leftMs).toISOString() };
  return { triesLeft: await attemptsLeft(limiterOf(call), keyOf(call), PER_ADDRESS), blockedUntil: null };
}

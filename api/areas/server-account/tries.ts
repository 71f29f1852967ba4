import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { attemptsLeft, forgetAttempts, type Limiter, limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';

const PER_ADDRESS = 10; // a minute
const IN_ALL = 30; // an hour
const HOUR_MS = 3_600_000;
const BLOCK_MS = 900_000;

const limiterOf = ({ deps }: Call): Limiter => ({ redis: deps.redis, replicas: deps.config.replicas });
/** Attempts from local networks are counted separately, so that remote attempts do not block the owner there. */
const GROUPS = ['claim', 'claim-local'] as const;
type Group = (typeof GROUPS)[number];
const groupOf = ({ client }: Call): Group => (client.local ? 'claim-local' : 'claim');
const blockOf = (group: Group): string => `${group}:blocked`;
const keyOf = ({ client }: Call): string => `claim:${addressGroup(client.address)}`;

/** Milliseconds until codes of all these groups are accepted again; 0 when they are. */
async function blockedMs({ deps }: Call, groups: readonly Group[]): Promise<number> {
  const left = await Promise.all(groups.map((group) => deps.redis.pttl(blockOf(group)).catch(() => 0)));
  return Math.max(0, ...left);
}

/**
 * Counts an attempt and returns how many this address has left. 429 over ten a minute for an address, and for 15 minutes
 * after 30 in an hour for its group.
 */
export async function countTry(call: Call): Promise<number> {
  const group = groupOf(call);
  const leftMs = await blockedMs(call, [group]);
  if (leftMs > 0) throw blocked(leftMs);
  const triesLeft = await limitAttempts(limiterOf(call), keyOf(call), PER_ADDRESS);
  const inAll = { ...limiterOf(call), windowMs: HOUR_MS };
  await limitAttempts(inAll, group, IN_ALL).catch(async (error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const set = await call.deps.redis.set(blockOf(group), '1', 'PX', BLOCK_MS).catch(() => undefined);
    if (!set) throw error; // without Redis the window of the limiter applies
    await forgetAttempts(inAll, group);
    const details = { address: call.client.address, local: call.client.local };
    call.log.warn(details, 'too many claim codes were tried: none is accepted from such addresses for 15 minutes');
    throw blocked(BLOCK_MS);
  });
  return triesLeft;
}

function blocked(leftMs: number): ApiError {
  const details = { retryAfterSec: Math.ceil(leftMs / 1000) };
  return new ApiError('RATE_LIMITED', 'Too many codes were tried; wait a while', details);
}

export async function triesOf(call: Call): Promise<{ triesLeft: number; blockedUntil: string | null }> {
  const who = await call.identify();
  const leftMs = await blockedMs(call, who?.operator ? GROUPS : [groupOf(call)]); // the operator reports every block
  if (leftMs > 0) return { triesLeft: 0, blockedUntil: new Date(Date.now() + leftMs).toISOString() };
  return { triesLeft: await attemptsLeft(limiterOf(call), keyOf(call), PER_ADDRESS), blockedUntil: null };
}

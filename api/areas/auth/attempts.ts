import type { Call } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';

const PER_MINUTE = 10; // SPEC 8: by address, and by account or name

/** Counts an attempt of this address, and of this account when it is known; 429 over ten a minute of either. */
export async function countAttempt({ deps, client }: Call, what: string, accountId?: string): Promise<void> {
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  await limitAttempts(limiter, `${what}-address:${addressGroup(client.address)}`, PER_MINUTE);
  if (accountId) await limitAttempts(limiter, `${what}-account:${accountId}`, PER_MINUTE);
}

/** Counts one of an account alone, where the address was counted before. */
export async function countAccountAttempt({ deps }: Call, what: string, accountId: string): Promise<void> {
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  await limitAttempts(limiter, `${what}-account:${accountId}`, PER_MINUTE);
}

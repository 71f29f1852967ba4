import { foldUsername } from '#areas/accounts/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup, addressNetwork } from '#kernel/request.ts';
import type { Db } from '#platform/db.ts';
import { sha256 } from '#platform/keys.ts';

const PER_MINUTE = 10; // SPEC 8: by address, and by account or name
/** Of one name from all networks together: who guesses from many addresses at once is slow as well. */
const STRANGERS_A_MINUTE = 100;

/** Counts an attempt of this address, and of this account when it is known; 429 over ten a minute of either. */
export async function countAttempt({ deps, client }: Call, what: string, accountId?: string): Promise<void> {
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  await limitAttempts(limiter, `${what}-address:${addressGroup(client.address)}`, PER_MINUTE);
  if (accountId) await limitAttempts(limiter, `${what}-account:${accountId}`, PER_MINUTE);
}

/** Asked for in place of an account that there is not: the answer takes the same time. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Who is to be signed in: the name that was given, and the account that has it. */
export interface Named {
  username: string;
  accountId: string | undefined;
}

/**
 * Counts a sign-in; 429 over ten a minute of this address, or of this name from its network. A device on which the account
 * signed in before has ten of its own, so that no stranger's attempts keep the account's people out.
 */
export async function countSignIn({ db, deps, client }: Call, named?: Named): Promise<void> {
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  const device = named && client.id && (await deviceBefore(db, named.accountId ?? NOBODY, client.id));
  if (device) {
    await limitAttempts(limiter, `login-device:${device}`, PER_MINUTE);
    return;
  }
  await limitAttempts(limiter, `login-address:${addressGroup(client.address)}`, PER_MINUTE);
  if (!named) return;
  const name = sha256(foldUsername(named.username));
  await limitAttempts(limiter, `login-name:${name}:${addressNetwork(client.address)}`, PER_MINUTE);
  await limitAttempts(limiter, `login-name:${name}`, STRANGERS_A_MINUTE);
}

/** The device of this `X-Client-Id` on which the account signed in before. Nobody else knows such an id. */
async function deviceBefore(db: Db, accountId: string, clientId: string): Promise<string | undefined> {
  const row = await db('devices').where({ account_id: accountId, client_id: clientId, state: 'trusted' }).first('id');
  return row?.id;
}

/** Counts one of an account alone, where the address was counted before. */
export async function countAccountAttempt({ deps }: Call, what: string, accountId: string): Promise<void> {
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  await limitAttempts(limiter, `${what}-account:${accountId}`, PER_MINUTE);
}

import { foldUsername } from '#areas/accounts/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup, addressNetwork } from '#kernel/request.ts';
import type { Db } from '#platform/db.ts';
import { sha256 } from '#platform/keys.ts';

const PER_MINUTE = 10; // for an address, and for an account or a name
/** For one name from all networks together, to slow down guesses from many addresses. */
const NAME_A_MINUTE = 100;

const limit = ({ deps }: Call, key: string, most = PER_MINUTE): Promise<number> =>
  limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, key, most);

/** Counts an attempt without account, challenge or flow by its address; 429 over ten a minute. */
export async function countAttempt(call: Call, what: string): Promise<void> {
  await limit(call, `${what}-address:${addressGroup(call.client.address)}`);
}

/**
 * Counts an attempt of an account that a session, a challenge or a provider verified; 429 over ten a minute. A device on which
 * the account signed in before has its own limit. The address does not count, because others share it.
 */
export async function countAccountAttempt(call: Call, what: string, accountId: string): Promise<void> {
  if (await countedOnDevice(call, what, accountId)) return;
  await limit(call, `${what}-account:${accountId}`);
}

/** Queried when there is no account, so that the response takes the same time. */
const NO_ACCOUNT = '00000000-0000-0000-0000-000000000000';

/** The name sent at sign-in, and the account that has it. */
export interface Named {
  username: string;
  accountId: string | undefined;
}

/**
 * Counts a sign-in; 429 over ten a minute for the address, or for the name from its network. A device on which the account
 * signed in before has its own limit of ten, so that attempts of others do not lock the account out.
 */
export async function countSignIn(call: Call, { username, accountId }: Named): Promise<void> {
  if (await countedOnDevice(call, 'login', accountId ?? NO_ACCOUNT)) return;
  await countAttempt(call, 'login');
  await countName(call, 'login', sha256(foldUsername(username)));
}

/** Counts a sign-in by a passkey for its account, or for the address when no account has it. */
export async function countPasskey(call: Call, accountId: string | undefined): Promise<void> {
  if (accountId === undefined) return countAttempt(call, 'passkey');
  if (await countedOnDevice(call, 'passkey', accountId)) return;
  await countName(call, 'passkey', accountId);
}

/** Counts the start of a sign-in for the device when an account signed in on it before, else for the address. */
export async function countStart(call: Call, what: string): Promise<void> {
  const { db, client } = call;
  const known = client.id && (await devicesBefore(db, client.id).first('id'));
  if (known) await limit(call, `${what}-client:${client.id}`);
  else await countAttempt(call, what);
}

/** Counts a use of one open challenge or flow. */
export async function countFlow(call: Call, what: string, secret: string): Promise<void> {
  await limit(call, `${what}-flow:${sha256(secret)}`);
}

async function countName(call: Call, what: string, name: string): Promise<void> {
  await limit(call, `${what}-name:${name}:${addressNetwork(call.client.address)}`);
  await limit(call, `${what}-name:${name}`, NAME_A_MINUTE);
}

/** Counts the attempt on this device if the account signed in on it before; false otherwise. */
async function countedOnDevice(call: Call, what: string, accountId: string): Promise<boolean> {
  const { db, client } = call;
  if (!client.id) return false;
  const row = await devicesBefore(db, client.id).where({ account_id: accountId }).first('id');
  if (!row) return false;
  await limit(call, `${what}-device:${row.id}`);
  return true;
}

/** Devices of this `X-Client-Id` on which their account signed in, without those that an API key registered. The id is known to the device alone. */
const devicesBefore = (db: Db, clientId: string) =>
  db('devices').where({ client_id: clientId, state: 'trusted' }).whereNotNull('last_profile_id');

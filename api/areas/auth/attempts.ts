import { foldUsername } from '#areas/accounts/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup, addressNetwork } from '#kernel/request.ts';
import type { Db } from '#platform/db.ts';
import { sha256 } from '#platform/keys.ts';

const PER_MINUTE = 10; // SPEC 8: by address, and by account or name
/** Of one name from all networks together: who guesses from many addresses at once is slow as well. */
const STRANGERS_A_MINUTE = 100;

const limit = ({ deps }: Call, key: string, most = PER_MINUTE): Promise<number> =>
  limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, key, most);

/** Counts an attempt that names no account, challenge or flow by its address; 429 over ten a minute. */
export async function countAttempt(call: Call, what: string): Promise<void> {
  await limit(call, `${what}-address:${addressGroup(call.client.address)}`);
}

/**
 * Counts an attempt of an account that a session, a challenge or a provider proved; 429 over ten a minute. A device on which
 * the account signed in before has ten of its own. The address does not count: others share it.
 */
export async function countAccountAttempt(call: Call, what: string, accountId: string): Promise<void> {
  if (await countedOnDevice(call, what, accountId)) return;
  await limit(call, `${what}-account:${accountId}`);
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
export async function countSignIn(call: Call, { username, accountId }: Named): Promise<void> {
  if (await countedOnDevice(call, 'login', accountId ?? NOBODY)) return;
  await countAttempt(call, 'login');
  await countName(call, 'login', sha256(foldUsername(username)));
}

/** Counts a sign-in by a passkey: by the account that has it, or by the address when nobody has. */
export async function countPasskey(call: Call, accountId: string | undefined): Promise<void> {
  if (accountId === undefined) return countAttempt(call, 'passkey');
  if (await countedOnDevice(call, 'passkey', accountId)) return;
  await countName(call, 'passkey', accountId);
}

/** Counts a start of a sign-in elsewhere: by the device if anybody signed in on it before, else by the address. */
export async function countStart(call: Call, what: string): Promise<void> {
  const { db, client } = call;
  const known = client.id && (await devicesBefore(db, client.id).first('id'));
  if (known) await limit(call, `${what}-client:${client.id}`);
  else await countAttempt(call, what);
}

/** Counts a use of one challenge or flow that is open. */
export async function countFlow(call: Call, what: string, secret: string): Promise<void> {
  await limit(call, `${what}-flow:${sha256(secret)}`);
}

async function countName(call: Call, what: string, name: string): Promise<void> {
  await limit(call, `${what}-name:${name}:${addressNetwork(call.client.address)}`);
  await limit(call, `${what}-name:${name}`, STRANGERS_A_MINUTE);
}

/** Whether the account signed in on this device before, and the attempt is therefore counted there. */
async function countedOnDevice(call: Call, what: string, accountId: string): Promise<boolean> {
  const { db, client } = call;
  if (!client.id) return false;
  const row = await devicesBefore(db, client.id).where({ account_id: accountId }).first('id');
  if (!row) return false;
  await limit(call, `${what}-device:${row.id}`);
  return true;
}

/** Devices of this `X-Client-Id` on which their account signed in. Nobody else knows the id; one that a key registered is none. */
const devicesBefore = (db: Db, clientId: string) =>
  db('devices').where({ client_id: clientId, state: 'trusted' }).whereNotNull('last_profile_id');

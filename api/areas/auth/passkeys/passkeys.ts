import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { ownAddress } from '#kernel/own-address.ts';
import { type Db, existing } from '#platform/db.ts';
import { listMethodRows, type MethodRow } from '../methods/methods.store.ts';
import { creationOptions, requestOptions } from './options.ts';
import { checkPasskey, PasskeyRefused, prepareVerifier } from './verifier.ts';

export const MOST_PASSKEYS = 20;

/** The host of `server.publicUrl`, else of the request. Browsers create passkeys only over https or for localhost. */
export function relyingParty(call: Call): { id: string; origin: string; usable: boolean } {
  const url = new URL(ownAddress(call));
  const usable = url.protocol === 'https:' || url.hostname === 'localhost';
  return { id: url.hostname, origin: url.origin, usable };
}

const passkeysOf = async (db: Db, accountId: string): Promise<MethodRow[]> =>
  (await listMethodRows(db, accountId)).filter(({ kind }) => kind === 'passkey');

/** Stores a challenge that is valid for 5 minutes and works once. */
export async function insertPasskeyChallenge(db: Db, challenge: string, accountId: string | null): Promise<void> {
  await db('passkey_challenges').whereRaw('expires_at < now()').delete();
  const expires = db.raw(`now() + interval '5 minutes'`);
  await db('passkey_challenges').insert({ challenge, account_id: accountId, expires_at: expires });
}

/** Takes a challenge; true once. A registration challenge is bound to its account, a sign-in challenge to none. */
export async function usePasskeyChallenge(db: Db, challenge: string, accountId: string | null): Promise<boolean> {
  const used = await db('passkey_challenges')
    .where({ challenge })
    .whereRaw('account_id is not distinct from ?::uuid and expires_at > now()', [accountId])
    .delete();
  return used === 1;
}

export async function registrationOptions(call: Call): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { db, who, deps } = call;
  const { id, usable } = relyingParty(call);
  if (!usable) throw conflict('insecure-origin', 'Passkeys need https, or localhost');
  const have = await passkeysOf(db, who.accountId);
  if (have.length >= MOST_PASSKEYS) throw conflict('too-many', 'An account has at most 20 passkeys');
  const names = existing(await db('accounts').where({ id: who.accountId }).first('username', 'display_name'));
  prepareVerifier();
  const options = creationOptions({
    rp: { id, name: deps.settings.get('server.name') },
    user: { id: Buffer.from(who.accountId), name: names.username, displayName: names.display_name },
    ...{ have, userVerification: 'preferred' },
  });
  await insertPasskeyChallenge(db, options.challenge, who.accountId);
  return options;
}

/** Options to sign in with a passkey alone, which requires user verification. */
export async function signInOptions(call: Call): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const options = requestOptions(relyingParty(call).id, 'required');
  if (await call.db('sign_in_methods').where({ kind: 'passkey' }).first('id')) prepareVerifier();
  await insertPasskeyChallenge(call.db, options.challenge, null);
  return options;
}

/** Options for a passkey as second factor; undefined for an account without passkeys. */
export function secondFactorOptions(
  call: Call,
  rows: readonly MethodRow[],
): PublicKeyCredentialRequestOptionsJSON | undefined {
  const passkeys = rows.filter(({ kind }) => kind === 'passkey');
  if (passkeys.length === 0) return undefined;
  prepareVerifier();
  return requestOptions(relyingParty(call).id, 'preferred', passkeys);
}

/** The challenge inside the client data of the browser. */
export function challengeIn(clientDataJSON: string): string {
  try {
    const data = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown };
    return typeof data.challenge === 'string' ? data.challenge : '';
  } catch {
    return '';
  }
}

export interface Assertion {
  response: AuthenticationResponseJSON;
  challenge: string;
  /** The passkey signs in alone, so user verification is required. */
  alone: boolean;
}

/** The account whose passkey signed the challenge; undefined when any check fails. The counter must not decrease. */
export async function passkeyAccount(
  call: Call,
  { response, challenge, alone }: Assertion,
): Promise<string | undefined> {
  const { db } = call;
  const row = await db('sign_in_methods').where({ kind: 'passkey', credential_id: response.id }).forUpdate().first();
  if (!row?.public_key) return undefined;
  const { id, origin } = relyingParty(call);
  const verified = await checkPasskey('verifyAuthenticationResponse', {
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: alone,
    credential: {
      id: response.id,
      publicKey: new Uint8Array(row.public_key),
      counter: Number(row.counter ?? 0),
    },
  }).catch((error: unknown) => {
    if (!(error instanceof PasskeyRefused)) throw error;
    return undefined;
  });
  if (!verified?.verified) return undefined;
  await db('sign_in_methods')
    .where({ id: row.id })
    .update({ counter: verified.authenticationInfo.newCounter, last_used_at: db.fn.now() });
  return row.account_id;
}

/** Whose passkey a response names; the response proves nothing yet. */
export async function ownerOfPasskey(db: Db, credentialId: string): Promise<string | undefined> {
  const row = await db('sign_in_methods').where({ kind: 'passkey', credential_id: credentialId }).first('account_id');
  return row?.account_id;
}

/** `passkeyAccount` with a challenge of `getSignInOptions`, which it uses up. */
export async function accountOfPasskey(call: Call, response: AuthenticationResponseJSON): Promise<string | undefined> {
  const challenge = challengeIn(response.response.clientDataJSON);
  if (!(await usePasskeyChallenge(call.db, challenge, null))) return undefined;
  return call.transact((inside) => passkeyAccount(inside, { response, challenge, alone: true }));
}

import { randomBytes } from 'node:crypto';
import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Call } from '#kernel/endpoint.ts';
import { addPasskeyTo } from './add-passkey.ts';
import { creationOptions } from './options.ts';
import { challengeIn, insertPasskeyChallenge, relyingParty } from './passkeys.ts';
import { prepareVerifier } from './verifier.ts';

/** Options for an invited person without an account; undefined where passkeys are disabled or not possible. */
export async function newcomerOptions(
  call: Call,
  name: string,
): Promise<PublicKeyCredentialCreationOptionsJSON | undefined> {
  const { id, usable } = relyingParty(call);
  if (!usable || !call.deps.settings.get('auth.passkeys.enabled')) return undefined;
  prepareVerifier();
  const options = creationOptions({
    rp: { id, name: call.deps.settings.get('server.name') },
    user: { id: randomBytes(16), name, displayName: '' },
    ...{ have: [], userVerification: 'required' },
  });
  await insertPasskeyChallenge(call.db, options.challenge, null);
  return options;
}

/** Adds the first passkey of an account that was created in this transaction. */
export async function addNewcomerPasskey(
  call: Call,
  accountId: string,
  response: RegistrationResponseJSON,
): Promise<void> {
  const challenge = challengeIn(response.response.clientDataJSON);
  await call.db('passkey_challenges').where({ challenge }).whereNull('account_id').update({ account_id: accountId });
  await addPasskeyTo({ ...call, who: { ...call.who, accountId } }, response, undefined);
}

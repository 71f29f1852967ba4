import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import type { z } from 'zod';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type ApiError, conflict, invalid } from '#kernel/errors.ts';
import { breaks } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { NewMethod } from '../methods/methods.schemas.ts';
import { findMethod, toMethod } from '../methods/methods.store.ts';
import { notifyMethodChanged } from '../notify.ts';
import { replaceRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { authenticatorName } from './authenticators.ts';
import { challengeIn, relyingParty, usePasskeyChallenge } from './passkeys.ts';
import { checkPasskey, PasskeyRefused } from './verifier.ts';

/** Verifies and stores a new passkey of the caller. */
export async function addPasskeyTo(
  call: Call,
  response: RegistrationResponseJSON,
  name: string | undefined,
): Promise<z.input<typeof NewMethod>> {
  const { db, who } = call;
  const made = await verified(call, response);
  const { credential, aaguid, credentialBackedUp } = made;
  const [row] = await db('sign_in_methods')
    .insert({
      id: newId(),
      account_id: who.accountId,
      kind: 'passkey',
      name: name ?? authenticatorName({ aaguid, transports: credential.transports ?? [] }),
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: credential.transports ?? [],
      aaguid,
      synced: credentialBackedUp,
    })
    .returning('*')
    .catch((error: unknown) => {
      if (breaks(error, 'sign_in_methods_credential_id_key'))
        throw conflict('credential-taken', 'This passkey is registered already');
      throw error;
    });
  if (!row) throw new Error('no row');
  const has = await findMethod(db, who.accountId, 'recovery-codes');
  const codes = has ? undefined : await replaceRecoveryCodes(db, who.accountId);
  await audit(call, 'sign-in-method-added', { kind: 'passkey' });
  await notifyMethodChanged(call, 'passkey');
  return { method: toMethod(row, 0), ...(codes && { recoveryCodes: codes }) };
}

async function verified(call: Call, response: RegistrationResponseJSON) {
  const challenge = challengeIn(response.response.clientDataJSON);
  if (!(await usePasskeyChallenge(call.db, challenge, call.who.accountId))) throw refused('wrong_challenge');
  const { id, origin } = relyingParty(call);
  const result = await checkPasskey('verifyRegistrationResponse', {
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
  }).catch((error: unknown) => {
    throw error instanceof PasskeyRefused ? refused(codeOf(error)) : error;
  });
  if (!result.verified) throw refused('bad_credential');
  return result.registrationInfo;
}

/** Issue code by the message of the library, which names the failed check. */
function codeOf({ message: text }: PasskeyRefused): string {
  if (/origin/i.test(text)) return 'wrong_origin';
  if (/RP ID/i.test(text)) return 'wrong_rp';
  return 'bad_credential';
}

function refused(code: string): ApiError {
  return invalid(['body', 'credential'], code, 'the passkey cannot be verified');
}

import type { z } from 'zod';
import { requireConfirmedMain, requireMain } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { countAccountAttempt } from '../attempts.ts';
import { SignIn } from '../auth.schemas.ts';
import { EnableTotp, NewMethod, NewRecoveryCodes, TotpSetup, VerifyTwoFactor } from '../methods/methods.schemas.ts';
import { listMethodRows } from '../methods/methods.store.ts';
import { startSession } from '../sign-in/sign-in.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { type Proof, withSecondFactor } from './second-factor.ts';
import { finishTotpSetup, startTotpSetup } from './totp-setup.ts';

export const verifyTwoFactor = defineEndpoint({
  operationId: 'verifyTwoFactor',
  method: 'post',
  path: '/auth/2fa/verify',
  summary: 'Complete a sign-in with the second factor',
  description:
    'Takes the challenge of a 401 `AUTH_2FA_REQUIRED` and a code, a recovery code or a passkey. A challenge is valid for five minutes and five attempts; a wrong code is 401 with `details.triesLeft`, and afterwards it is 401 `AUTH_TOKEN_INVALID`.',
  access: { anyone: true, because: 'the challenge of the first factor is the credential' },
  body: VerifyTwoFactor,
  answer: json(200, SignIn),
  errors: ['UNAUTHENTICATED', 'AUTH_TOKEN_INVALID', 'FORBIDDEN', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    const { challenge, keep, remember } = body;
    return withSecondFactor(call, { challenge, proof: proofOf(body) }, (inside, row) =>
      startSession(inside, {
        accountId: row.account_id,
        method: row.method,
        profileId: row.profile_id ?? undefined,
        twoFactor: true,
        oidc: row.oidc ?? undefined,
        keep,
        remember,
      }),
    );
  },
});

function proofOf({ method, code, passkey }: z.output<typeof VerifyTwoFactor>): Proof {
  if (method === 'passkey') {
    if (!passkey) throw invalid(['body', 'passkey'], 'required', 'a passkey is needed');
    return { method, response: passkey };
  }
  if (code === undefined) throw invalid(['body', 'code'], 'required', 'a code is needed');
  return { method, code };
}

export const startTotp = defineEndpoint({
  operationId: 'startTotp',
  method: 'post',
  path: '/auth/2fa/totp',
  summary: 'Start the setup of an authenticator app',
  description:
    'Needs the main profile and a confirmed session. Returns a secret, shown once and valid for ten minutes; two-factor stays off until `enableTotp`. A new start replaces the former one. It is 409 `already-on` while an authenticator app is set up.',
  access: { person: true },
  anyHour: true,
  answer: json(201, TotpSetup),
  unrepeated: ['secret', 'uri', 'qrSvg'],
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle(_input, call) {
    requireConfirmedMain(call.who, call.now);
    return startTotpSetup(call);
  },
});

export const enableTotp = defineEndpoint({
  operationId: 'enableTotp',
  method: 'put',
  path: '/auth/2fa/totp',
  summary: 'Turn two-factor on with a first code',
  description:
    'A wrong code is 400 `wrong_code`, and a setup allows five attempts. When the account has no recovery codes, the answer has ten, shown once. It ends the other sessions that have no second factor.',
  access: { person: true },
  anyHour: true,
  body: EnableTotp,
  answer: json(200, NewMethod),
  errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    requireMain(call.who);
    await countAccountAttempt(call, 'two-factor', call.who.accountId);
    return finishTotpSetup(call, body);
  },
});

export const createRecoveryCodes = defineEndpoint({
  operationId: 'createRecoveryCodes',
  method: 'post',
  path: '/auth/2fa/recovery-codes',
  summary: 'Create new recovery codes',
  description:
    'Needs the main profile and a confirmed session. The answer shows ten codes once; the former ones stop working. It is 409 `two-factor-off` without a second factor.',
  access: { person: true },
  anyHour: true,
  answer: json(201, NewRecoveryCodes),
  unrepeated: ['recoveryCodes'],
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle(_input, call) {
    requireConfirmedMain(call.who, call.now);
    const rows = await listMethodRows(call.db, call.who.accountId);
    const on = rows.some(({ kind }) => kind === 'totp' || kind === 'passkey');
    if (!on) throw conflict('two-factor-off', 'There is no second factor');
    const recoveryCodes = await replaceRecoveryCodes(call.db, call.who.accountId);
    await audit(call, 'recovery-codes-made', {});
    return { recoveryCodes };
  },
});

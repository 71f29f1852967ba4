import { requireConfirmedMain, requireMain } from '#identity/person.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { NewMethod } from '../methods/methods.schemas.ts';
import { readOptions } from '../sign-in/sign-in-options.view.ts';
import { addPasskeyTo } from './add-passkey.ts';
import { AddPasskey, CreationOptions, SignInOptions } from './passkeys.schemas.ts';
import { registrationOptions } from './passkeys.ts';

export const startPasskeyRegistration = defineEndpoint({
  operationId: 'startPasskeyRegistration',
  method: 'post',
  path: '/auth/passkeys/options',
  summary: 'Start the registration of a passkey',
  description:
    'Needs the main profile and a confirmed session. Returns the options for `navigator.credentials.create`, valid for five minutes. It is 409 `insecure-origin` when the server is reached neither by https nor by localhost, and 409 `too-many` at 20 passkeys.',
  access: { person: true },
  anyHour: true,
  answer: json(200, CreationOptions),
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle(_input, call) {
    requireConfirmedMain(call.who, call.now);
    return { ...(await registrationOptions(call)) };
  },
});

export const addPasskey = defineEndpoint({
  operationId: 'addPasskey',
  method: 'post',
  path: '/auth/passkeys',
  summary: 'Add a passkey',
  description:
    'Needs the main profile and the challenge of `startPasskeyRegistration`. A passkey signs in alone and also counts as the second factor after a password. With the first second factor the answer has ten recovery codes, shown once. A passkey of another account is 409 `credential-taken`.',
  access: { person: true },
  anyHour: true,
  body: AddPasskey,
  answer: json(201, NewMethod),
  unrepeated: ['recoveryCodes'],
  errors: ['FORBIDDEN', 'CONFLICT'],

  async handle({ body }, call) {
    requireMain(call.who);
    return addPasskeyTo(call, body.credential, body.name);
  },
});

const A_MINUTE = 60;

export const getSignInOptions = defineEndpoint({
  operationId: 'getSignInOptions',
  method: 'get',
  path: '/auth/options',
  summary: 'Get the options of the sign-in page',
  description:
    'Returns everything a sign-in page needs, including a passkey challenge that is valid for five minutes and works once. The answer depends on no account; tiles list only accounts that chose to be listed. Before setup is complete every option is off.',
  access: { anyone: true, because: 'a person who signs in has no credential yet' },
  answer: json(200, SignInOptions),
  errors: ['RATE_LIMITED'],

  async handle(_input, call) {
    const { deps, client } = call;
    const limiter = { redis: deps.redis, replicas: deps.config.replicas };
    await limitAttempts(limiter, `sign-in-options:${addressGroup(client.address)}`, A_MINUTE);
    return readOptions(call);
  },
});

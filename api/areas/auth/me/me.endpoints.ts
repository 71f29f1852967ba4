import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { Me } from '../auth.schemas.ts';
import { requestReset } from '../passwords/request-reset.ts';
import { MeChange, RequestedReset, RequestReset } from './me.schemas.ts';
import { readMe } from './me.view.ts';
import { changeMe } from './update-me.ts';

const REQUESTS_A_MINUTE = 10;

export const updateMe = defineEndpoint({
  operationId: 'updateMe',
  method: 'patch',
  path: '/auth/me',
  summary: 'Change the account of the caller',
  description:
    'Needs the main profile. `username` and `email` need a confirmed session. A new email address takes effect when the link in its mail is opened; sending the same address again repeats that mail. A child account cannot change `username`, `email` and `discoverable`.',
  access: { person: true },
  anyHour: true,
  body: MeChange,
  answer: json(200, Me),
  errors: ['FORBIDDEN', 'CONFLICT', 'RATE_LIMITED'],

  async handle({ body }, call) {
    await changeMe(call, body);
    return readMe(call);
  },
});

export const requestPasswordReset = defineEndpoint({
  operationId: 'requestPasswordReset',
  method: 'post',
  path: '/auth/password-reset',
  summary: 'Request a mail to set a new password',
  description:
    'The answer is the same whether the account exists or not. The mail goes to a verified address only, at most three times an hour for an account. Without a mail server it is 409 `mail-not-configured`; an admin can then create a link.',
  access: {
    anyone: true,
    because: 'who forgot a password cannot sign in; only the address of the account learns anything',
  },
  body: RequestReset,
  answer: json(202, RequestedReset),
  errors: ['CONFLICT', 'RATE_LIMITED'],

  counts: ({ deps, client }) => {
    const limiter = { redis: deps.redis, replicas: deps.config.replicas };
    return limitAttempts(limiter, `reset-request:${addressGroup(client.address)}`, REQUESTS_A_MINUTE);
  },

  async handle({ body }, call) {
    await requestReset(call, body.login);
    return { expiresInSec: 3600, retryAfterSec: 60 };
  },
});

import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { CompletedOidc, CompleteOidc, OidcLogout, StartedOidc, StartOidc } from './oidc.schemas.ts';
import { finish } from './oidc-complete.ts';
import { endByProvider } from './oidc-logout.ts';
import { begin } from './oidc-start.ts';

export const startOidc = defineEndpoint({
  operationId: 'startOidc',
  method: 'post',
  path: '/auth/oidc/start',
  summary: 'Begin to sign in, link or confirm at the OpenID provider',
  access: {
    anyone: true,
    because: 'who signs in is not signed in yet; link and confirm look at the credential themselves',
  },
  body: StartOidc,
  answer: json(200, StartedOidc),
  errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'CONFLICT', 'RATE_LIMITED', 'PROVIDER_UNAVAILABLE'],
  transaction: 'manual',

  async handle({ body }, call) {
    return begin(call, body);
  },
});

export const completeOidc = defineEndpoint({
  operationId: 'completeOidc',
  method: 'post',
  path: '/auth/oidc/complete',
  summary: 'Finish with the code that the OpenID provider gave',
  access: { anyone: true, because: 'the code, with the state and the binding of this client, is the credential' },
  body: CompleteOidc,
  answer: json(200, CompletedOidc),
  emits: ['user.created', 'library.access.granted'],
  errors: [
    'UNAUTHENTICATED',
    'AUTH_TOKEN_INVALID',
    'AUTH_2FA_REQUIRED',
    'FORBIDDEN',
    'CONFLICT',
    'RATE_LIMITED',
    'PROVIDER_UNAVAILABLE',
  ],
  transaction: 'manual',

  async handle({ body }, call) {
    return finish(call, body);
  },
});

export const receiveOidcLogout = defineEndpoint({
  operationId: 'receiveOidcLogout',
  method: 'post',
  path: '/auth/oidc/logout',
  summary: 'Back-channel logout, called by the OpenID provider',
  access: { anyone: true, because: 'the token signed by the provider is the credential' },
  body: OidcLogout,
  urlEncoded: true,
  answer: json(200, z.object({})),
  errors: ['RATE_LIMITED', 'PROVIDER_UNAVAILABLE'],

  async handle({ body }, call) {
    await endByProvider(call, body.logout_token);
    return {};
  },
});

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
  summary: 'Start a flow at the OpenID provider',
  description:
    'Starts a sign-in, or, for a signed-in person, linking or confirming, by the authorization code flow with PKCE. The client keeps `binding`, opens `url` and sends both to `completeOidc` within ten minutes. `redirectUri` must be one of those configured. It is 409 `oidc-off` without a provider and 502 when the provider is unreachable.',
  access: {
    anyone: true,
    because: 'a person who signs in has no credential yet; link and confirm check the credential themselves',
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
  summary: 'Complete a flow at the OpenID provider',
  description:
    'Exchanges the code of the provider for a sign-in, a linked method or a confirmation, by the intent of the flow. `state` works once and only with its `binding` and the same `X-Client-Id`. An identity without an account is 403 unless accounts are created at sign-in; one that another account has is 409 `identity-taken`. With two-factor on it is 401 `AUTH_2FA_REQUIRED` unless the provider is trusted for it.',
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
  summary: 'Receive a back-channel logout',
  description:
    'The OpenID provider calls it as OpenID Connect Back-Channel Logout defines. It ends the sessions of the named provider session or of the subject. An invalid token is 400 and ends no session; an unknown subject is 200.',
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

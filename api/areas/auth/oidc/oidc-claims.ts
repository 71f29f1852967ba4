import { jwtVerify } from 'jose';
import { authorizationCodeGrant, fetchUserInfo } from 'openid-client';
import type { Deps } from '#kernel/endpoint.ts';
import { Claims } from './oidc.schemas.ts';
import type { Flow } from './oidc-flows.store.ts';
import { LEEWAY_SECONDS, type Provider, providerError } from './oidc-provider.ts';

interface Answer {
  code: string;
  state: string;
  iss: string | undefined;
}

/**
 * Exchanges the code for the claims of the person. The library checks `iss` of the response, PKCE and state,
 * nonce, audience and times; the signature is checked here by keys that are cached for an hour. Throws 502 with the step.
 */
export async function readClaims(deps: Deps, provider: Provider, by: { flow: Flow; answer: Answer }): Promise<Claims> {
  const { config, issuer, clientId, keys } = provider;
  const tokens = await grant(provider, by).catch((error: unknown) => {
    throw providerError('token', error, deps);
  });
  const { payload } = await jwtVerify(tokens.id_token ?? '', keys, {
    issuer,
    audience: clientId,
    clockTolerance: LEEWAY_SECONDS,
    requiredClaims: ['sub', 'exp', 'iat'],
  }).catch((error: unknown) => {
    throw providerError('id-token', error, deps);
  });
  const claims = { ...payload };
  if (lacksClaims(deps, claims) && config.serverMetadata().userinfo_endpoint) {
    const more = await fetchUserInfo(config, tokens.access_token, String(payload.sub)).catch((error: unknown) => {
      throw providerError('userinfo', error, deps);
    });
    return Claims.parse({ ...more, ...claims });
  }
  return Claims.parse(claims);
}

function grant({ config }: Provider, { flow, answer }: { flow: Flow; answer: Answer }) {
  const url = new URL(flow.redirect_uri);
  url.search = '';
  url.searchParams.set('code', answer.code);
  url.searchParams.set('state', answer.state);
  if (answer.iss !== undefined) url.searchParams.set('iss', answer.iss);
  return authorizationCodeGrant(config, url, {
    pkceCodeVerifier: flow.verifier,
    expectedNonce: flow.nonce,
    expectedState: answer.state,
    idTokenExpected: true,
  });
}

/** Providers may return some claims only at the userinfo endpoint. */
function lacksClaims({ settings }: Deps, claims: Record<string, unknown>): boolean {
  const wanted = ['email', 'preferred_username', settings.get('auth.oidc.groupsClaim') ?? 'sub'];
  return wanted.some((name) => claims[name] === undefined);
}

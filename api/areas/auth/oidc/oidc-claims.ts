import { jwtVerify } from 'jose';
import { authorizationCodeGrant, fetchUserInfo } from 'openid-client';
import type { Deps } from '#kernel/endpoint.ts';
import { Claims } from './oidc.schemas.ts';
import type { Flow } from './oidc-flows.store.ts';
import { away, LEEWAY_SECONDS, type Provider } from './oidc-provider.ts';

interface Answer {
  code: string;
  state: string;
  iss: string | undefined;
}

/**
 * Trades the code for what the provider says of the person. The library checks `iss` of the answer, the code's flow (PKCE, state),
 * nonce, audience and times; the signature is checked here, by keys that are kept an hour. Throws 502 with the step.
 */
export async function readClaims(deps: Deps, provider: Provider, by: { flow: Flow; answer: Answer }): Promise<Claims> {
  const { config, issuer, clientId, keys } = provider;
  const tokens = await grant(provider, by).catch((error: unknown) => {
    throw away('token', error, deps);
  });
  const { payload } = await jwtVerify(tokens.id_token ?? '', keys, {
    issuer,
    audience: clientId,
    clockTolerance: LEEWAY_SECONDS,
    requiredClaims: ['sub', 'exp', 'iat'],
  }).catch((error: unknown) => {
    throw away('id-token', error, deps);
  });
  const said = { ...payload };
  if (lacksClaims(deps, said) && config.serverMetadata().userinfo_endpoint) {
    const more = await fetchUserInfo(config, tokens.access_token, String(payload.sub)).catch((error: unknown) => {
      throw away('userinfo', error, deps);
    });
    return Claims.parse({ ...more, ...said });
  }
  return Claims.parse(said);
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

/** Providers may keep these for the userinfo endpoint. */
function lacksClaims({ settings }: Deps, said: Record<string, unknown>): boolean {
  const wanted = ['email', 'preferred_username', settings.get('auth.oidc.groupsClaim') ?? 'sub'];
  return wanted.some((name) => said[name] === undefined);
}

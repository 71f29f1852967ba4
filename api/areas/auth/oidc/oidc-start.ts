import { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier } from 'openid-client';
import type { z } from 'zod';
import { bearer } from '#identity/credentials.ts';
import { requireConfirmedMain } from '#identity/person.ts';
import type { Principal } from '#identity/principal.ts';
import { requireClientId } from '#kernel/admission.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { ownAddress } from '#kernel/own-address.ts';
import { iso } from '#kernel/schemas.ts';
import { countAccountAttempt, countStart } from '../attempts.ts';
import type { StartedOidc, StartOidc } from './oidc.schemas.ts';
import { insertFlow } from './oidc-flows.store.ts';
import { providerOf } from './oidc-provider.ts';

/** The page of the web app to which the provider redirects. */
const WEB_APP = '/sign-in/oidc';

/** Starts a flow: the address at the provider, and the secrets that only this client can complete it with. */
export async function begin(call: Call, body: z.output<typeof StartOidc>): Promise<z.input<typeof StartedOidc>> {
  const { db, deps, client } = call;
  const who = body.intent === 'sign-in' ? undefined : await signedIn(call);
  if (who) await countAccountAttempt(call, 'oidc-start', who.accountId);
  else await countStart(call, 'oidc-start');
  if (who && body.intent === 'link') requireConfirmedMain(who, call.now);
  refuseRedirect(call, body.redirectUri);
  const { issuer, config } = await providerOf(deps);
  const [verifier, nonce] = [randomPKCECodeVerifier(), randomNonce()];
  const { state, binding, expiresAt } = await insertFlow(db, deps.keys, {
    intent: body.intent,
    clientId: client.id,
    sessionId: who?.sessionId,
    issuer,
    verifier,
    nonce,
    redirectUri: body.redirectUri,
    returnTo: body.returnTo,
    keep: body.keep,
    remember: body.remember,
  });
  const url = buildAuthorizationUrl(config, {
    redirect_uri: body.redirectUri,
    scope: [...new Set(['openid', ...deps.settings.get('auth.oidc.scopes')])].join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(body.intent === 'confirm' && { prompt: 'login' }), // an existing session at the provider proves no presence
  });
  return { url: url.href, state, binding, expiresAt: iso(expiresAt) };
}

/** The signed-in person who links or confirms; 403 for an API key. */
export async function signedIn(call: Call): Promise<Principal> {
  const who = await call.identify();
  if (!who) throw new ApiError('UNAUTHENTICATED', 'Sign in first', {});
  if (who.kind === 'key') throw new ApiError('FORBIDDEN', 'An API key cannot do this', { by: 'api-key' });
  if (!bearer(call.headers)) requireClientId(call.client);
  return who;
}

function refuseRedirect(call: Call, wanted: string): void {
  const allowed = [...call.deps.settings.get('auth.oidc.redirectUris'), `${ownAddress(call)}${WEB_APP}`];
  if (!allowed.includes(wanted)) throw invalid(['body', 'redirectUri'], 'unknown_redirect', 'not one of those allowed');
}

import type { Api, TestClient } from './api.ts';
import { CLIENT, type OidcServer, REDIRECT, type Somebody } from './oidc.ts';
import { device } from './signing-in.ts';

export const APP = { redirectUri: REDIRECT };

/** FOYER_SETTINGS of a deployment that declares the provider. */
export const declared = (oidc: OidcServer): string =>
  JSON.stringify({
    'auth.oidc.issuer': oidc.issuer,
    'auth.oidc.clientId': CLIENT.id,
    'auth.oidc.clientSecret': CLIENT.secret,
    'auth.oidc.redirectUris': [REDIRECT],
    'auth.oidc.name': 'Our house',
  });

export type Flows = ReturnType<typeof flowsOf>;

/** The three operations as an app calls them, on `device`. */
export function flowsOf(api: Api, oidc: OidcServer) {
  const start = async (body: object = {}, client: TestClient = api.anyone) =>
    (await client.startOidc({ body: { ...APP, ...body }, headers: device })).body;
  const complete = (client: TestClient, body: Record<string, string>, headers: Record<string, string> = device) =>
    client.completeOidc({ body, headers });
  /** Start, a visit at the provider, and the body that completeOidc then receives. */
  const through = async (body: object = {}, more: { client?: TestClient; jar?: Map<string, string> } = {}) => {
    const { url, state, binding } = await start(body, more.client);
    const { code = '', iss = '' } = await oidc.visit(url, more.jar);
    return { code, state, binding, iss };
  };
  const enter = async (sub: string, more: Omit<Somebody, 'sub'> = {}) => {
    oidc.next = { sub, ...more };
    return complete(api.anyone, await through());
  };
  const linkTo = (accountId: string, subject: string) =>
    api.deps.db('sign_in_methods').insert({
      id: crypto.randomUUID(),
      account_id: accountId,
      kind: 'oidc',
      issuer: oidc.issuer,
      subject,
    });
  return { start, complete, through, enter, linkTo };
}

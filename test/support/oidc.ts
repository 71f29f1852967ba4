import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';
import { trustedCertificate } from './certificate.ts';
import { atEnd } from './stores.ts';

export const CLIENT = { id: 'foyer', secret: 'a secret of forty characters and not fewer' };
export const REDIRECT = 'https://app.example/back';

/** The person who signs in at the provider next. */
export interface Somebody {
  sub: string;
  email?: string;
  email_verified?: boolean;
  preferred_username?: string;
  name?: string;
  groups?: string[];
  amr?: string[];
}

export interface OidcServer {
  issuer: string;
  next: Somebody;
  /** Answers in place of the provider when it returns true. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Lets an app at this address receive people, in addition to REDIRECT. */
  redirectTo(address: string): void;
  /** Where it sends logout tokens. */
  logoutUri: string;
  /** Follows the address as a browser without a session would; the query it is sent back with. */
  visit(url: string, jar?: Map<string, string>): Promise<Record<string, string>>;
  /** Ends the session of the jar at the provider. */
  leave(jar: Map<string, string>): Promise<void>;
  /** Signs as the provider does. */
  sign(claims: Record<string, unknown>, header?: { typ?: string }): Promise<string>;
}

/** A real OpenID provider on loopback, over TLS: it signs `next` in without a prompt. */
export async function startOidcServer(): Promise<OidcServer> {
  const { key, cert } = trustedCertificate('oidc');
  const pair = await generateKeyPair('RS256', { extractable: true });
  const jwk: JWK = { ...(await exportJWK(pair.privateKey)), kid: 'of-the-provider', use: 'sig', alg: 'RS256' };
  const server = createServer({ key, cert }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `https://127.0.0.1:${(server.address() as { port: number }).port}`;
  const people = new Map<string, Somebody>();
  const them: OidcServer = {
    issuer,
    next: { sub: 'nobody' },
    instead: () => false,
    logoutUri: 'http://127.0.0.1:9/',
    redirectTo(address) {
      provider = providerWith(issuer, { jwk, people, them, redirects: [address] });
    },
    visit: (url, jar = new Map()) => visit(url, jar),
    leave: (jar) => leave(issuer, jar),
    sign: async (claims, { typ = 'logout+jwt' } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'of-the-provider', typ })
        .sign(await importJWK(jwk, 'RS256')),
  };
  let provider = providerWith(issuer, { jwk, people, them, redirects: [] });
  server.on('request', (request, response) => {
    if (them.instead(request, response)) return;
    if (request.url?.startsWith('/enter/')) void enter(provider, { request, response, them, people });
    else void provider.callback()(request, response);
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return them;
}

interface Making {
  jwk: JWK;
  people: Map<string, Somebody>;
  them: OidcServer;
  /** Addresses of apps in addition to REDIRECT. */
  redirects: readonly string[];
}

function providerWith(issuer: string, { jwk, people, them, redirects }: Making): Provider {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [REDIRECT, ...redirects],
        backchannel_logout_uri: 'https://127.0.0.1:9/logout',
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] } as never,
    claims: {
      openid: ['sub', 'amr'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'groups'],
      sid: null,
    },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    interactions: { url: (_, interaction) => `/enter/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...(people.get(sub) ?? {}), sub }) }),
    loadExistingGrant: async (context) => {
      const { session, client } = context.oidc;
      const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: client?.clientId ?? '' });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    // its own guard would let no logout token out to loopback
    fetch: (url, { method, body, headers } = {}) => {
      const to = new URL(url).port === '9' ? them.logoutUri : url;
      return globalThis.fetch(to, { method, body, headers } as RequestInit);
    },
  });
  return provider;
}

async function enter(
  provider: Provider,
  {
    request,
    response,
    them,
    people,
  }: { request: IncomingMessage; response: ServerResponse; them: OidcServer; people: Map<string, Somebody> },
): Promise<void> {
  people.set(them.next.sub, them.next);
  const { sub, amr } = them.next;
  await provider.interactionFinished(request, response, { login: { accountId: sub, ...(amr && { amr }) } });
}

async function go(url: string, jar: Map<string, string>, init: RequestInit = {}): Promise<Response> {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(url, { ...init, redirect: 'manual', headers: { ...(init.headers as object), cookie } });
  for (const line of answer.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    jar.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return answer;
}

async function visit(url: string, jar: Map<string, string>): Promise<Record<string, string>> {
  let next = url;
  for (let steps = 0; steps < 10; steps += 1) {
    const answer = await go(next, jar);
    const to = answer.headers.get('location');
    if (!to) throw new Error(`the provider answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    next = new URL(to, next).href;
    if (next.startsWith(REDIRECT)) return Object.fromEntries(new URL(next).searchParams);
  }
  throw new Error('it goes round in circles');
}

async function leave(issuer: string, jar: Map<string, string>): Promise<void> {
  const page = await (await go(`${issuer}/session/end?client_id=${CLIENT.id}`, jar)).text();
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const body = new URLSearchParams({ xsrf, logout: 'yes' });
  const answer = await go(`${issuer}/session/end/confirm`, jar, { method: 'POST', body });
  if (answer.status >= 400) throw new Error(`the provider answered ${answer.status}`);
}

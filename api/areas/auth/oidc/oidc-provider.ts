import type { IncomingHttpHeaders } from 'node:http';
import { createRemoteJWKSet, type JWTVerifyGetKey, customFetch as joseFetch } from 'jose';
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  clockTolerance,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { Deps } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { sha256 } from '#platform/keys.ts';
import { createOutbound, type Outbound, type OutboundOptions } from '#platform/outbound.ts';
import type { Settings } from '#platform/settings.ts';

const CACHED_MS = 3_600_000;
const TIMEOUT_MS = 10_000;
export const LEEWAY_SECONDS = 60;

export interface Provider {
  issuer: string;
  clientId: string;
  config: Configuration;
  /** Its signing keys, cached for an hour; an unknown key id fetches them at once. */
  keys: JWTVerifyGetKey;
}

const known = new WeakMap<Settings, { of: string; until: number; provider: Promise<Provider> }>();

/** The configured provider, discovered once an hour. Throws 409 `oidc-off`, and 502 when it is unreachable. */
export async function providerOf(deps: Deps): Promise<Provider> {
  const { settings } = deps;
  const issuer = settings.get('auth.oidc.issuer');
  const clientId = settings.get('auth.oidc.clientId');
  if (!issuer || !clientId) throw conflict('oidc-off', 'No OpenID provider is set up');
  const secret = settings.get('auth.oidc.clientSecret') ?? undefined;
  const of = sha256(JSON.stringify([issuer, clientId, secret]));
  const cached = known.get(settings);
  if (cached && cached.of === of && cached.until > Date.now()) return cached.provider;
  const provider = discover(deps, { issuer, clientId, secret });
  known.set(settings, { of, until: Date.now() + CACHED_MS, provider });
  return provider.catch((error: unknown) => {
    if (known.get(settings)?.provider === provider) known.delete(settings);
    throw providerError('discovery', error, deps);
  });
}

interface Client {
  issuer: string;
  clientId: string;
  secret: string | undefined;
}

async function discover(deps: Deps, { issuer, clientId, secret }: Client): Promise<Provider> {
  const fetch = fetchFor(deps, issuer);
  const found = await discovery(new URL(issuer), clientId, undefined, None(), { [customFetch]: fetch });
  const metadata: ServerMetadata = found.serverMetadata();
  if (!metadata.jwks_uri) throw new Error('the provider names no keys');
  const auth = authFor(metadata, secret);
  const config = new Configuration(metadata, clientId, { [clockTolerance]: LEEWAY_SECONDS }, auth);
  config[customFetch] = fetch;
  config.timeout = TIMEOUT_MS / 1000;
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
    cacheMaxAge: CACHED_MS,
    timeoutDuration: TIMEOUT_MS,
    [joseFetch]: fetch as never,
  });
  return { issuer: metadata.issuer, clientId, config, keys };
}

/** Basic is the default of the standard when the metadata names no method. */
function authFor(metadata: ServerMetadata, secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/**
 * The outbound client for a provider. An issuer that the deployment declares may be in any network, including the
 * cluster; others may not.
 */
export function issuerOutbound({ config, settings }: Pick<Deps, 'config' | 'settings'>, issuer: string): Outbound {
  const outbound = createOutbound({ deny: config.clusterNetworks });
  const declared = settings.sourceOf('auth.oidc.issuer') === 'resource' && settings.get('auth.oidc.issuer') === issuer;
  const rules = {
    always: declared ? ['0.0.0.0/0', '::/0'] : [],
    maxRedirects: 0,
    maxBytes: 1 << 20,
    timeoutMs: TIMEOUT_MS,
  };
  return (url, options) => outbound(url, { ...options, ...rules });
}

function fetchFor(deps: Deps, issuer: string): CustomFetch {
  const outbound = issuerOutbound(deps, issuer);
  return async (url, { method, headers, body, signal }) => {
    const {
      status,
      headers: got,
      body: bytes,
    } = await outbound(url, {
      method: method as NonNullable<OutboundOptions['method']>,
      headers: Object.fromEntries(new Headers(headers)),
      ...(body ? { body: await new Response(body as URLSearchParams).text() } : {}),
      ...(signal && { signal }),
    });
    return new Response(bytes.length > 0 ? new Uint8Array(bytes) : null, { status, headers: headersOf(got) });
  };
}

function headersOf(given: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return headers;
}

/** 502 with the step for a failure of the provider or of its response; details go to the log. */
export function providerError(step: string, error: unknown, { log }: Pick<Deps, 'log'>): ApiError {
  if (error instanceof ApiError) return error;
  const { message, code } = error as Error & { code?: string };
  log.warn({ step, err: message, ...(code && { code }) }, 'the OpenID provider failed');
  return new ApiError('PROVIDER_UNAVAILABLE', 'The OpenID provider failed or sent an invalid response', { step });
}

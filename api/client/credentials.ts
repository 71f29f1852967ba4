import type { SignIn } from './types.ts';

/** The two tokens of a sign-in. */
export interface Tokens {
  accessToken: string;
  refreshToken?: string | undefined;
}

/** Asks for new tokens with a refresh token, or with the browser's cookie when there is none. Throws what the server refused. */
export type Refresh = (refreshToken: string | undefined) => Promise<SignIn>;

/** What a client presents with its requests, and whether a refusal is worth one more try. */
export interface Credential {
  headers(): Record<string, string>;
  /** `include` where cookies are the credential. */
  readonly cookies?: boolean;
  /** Renews what the server no longer takes; true when a request is worth repeating. `sent` is what the request had. */
  renew?(refresh: Refresh, sent: Record<string, string>): Promise<boolean>;
}

/** An API key; it is never refreshed. */
export function apiKey(key: string): Credential {
  return { headers: () => ({ authorization: `Bearer ${key}` }) };
}

/** The browser's cookies, as signing in with keep `cookie` sets them. */
export function cookies(): Credential {
  const single = singleFlight();
  return {
    headers: () => ({}),
    cookies: true,
    renew: (refresh) =>
      single(async () => {
        await refresh(undefined);
        return true;
      }),
  };
}

/** A session by its tokens. `kept` is told of each new pair, before any request uses it, so that it can be stored. */
export function session(tokens: Tokens, kept?: (tokens: Tokens) => void | Promise<void>): Credential {
  let { accessToken, refreshToken } = tokens;
  const headers = (): Record<string, string> => ({ authorization: `Bearer ${accessToken}` });
  const single = singleFlight();
  return {
    headers,
    renew: async (refresh, sent) => {
      if (sent['authorization'] !== headers()['authorization']) return true; // renewed meanwhile by another request
      if (refreshToken === undefined) return false;
      return single(async () => {
        const fresh = await refresh(refreshToken);
        accessToken = fresh.accessToken ?? '';
        refreshToken = fresh.refreshToken ?? undefined;
        await kept?.({ accessToken, refreshToken });
        return true;
      });
    },
  };
}

/** However many ask at once, one works and all get its answer. */
function singleFlight(): (work: () => Promise<boolean>) => Promise<boolean> {
  let flying: Promise<boolean> | undefined;
  return (work) => {
    flying ??= work().finally(() => {
      flying = undefined;
    });
    return flying;
  };
}

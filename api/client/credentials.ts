import type { SignIn } from './areas/index.ts';

/** The two tokens of a sign-in. */
export interface Tokens {
  accessToken: string;
  refreshToken?: string | undefined;
}

/**
 * Requests new tokens with a refresh token, or with the browser's cookie when there is none. Throws when the server refuses.
 * The same `retryKey` within 30 seconds repeats a request whose response was lost; without one each call has its own.
 */
export type Refresh = (refreshToken: string | undefined, retryKey?: string) => Promise<SignIn>;

/** The credential of requests, and whether to repeat a refused one. */
export interface Credential {
  headers(): Record<string, string>;
  /** `include` where cookies are the credential. */
  readonly cookies?: boolean;
  /** Renews a refused credential; true when the request should be repeated. `sent` are the headers that the request had. */
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

/** A session by its tokens. `kept` is called with each new pair, before any request uses it, to store it. */
export function session(tokens: Tokens, kept?: (tokens: Tokens) => void | Promise<void>): Credential {
  let { accessToken, refreshToken } = tokens;
  const headers = (): Record<string, string> => ({ authorization: `Bearer ${accessToken}` });
  const single = singleFlight();
  return {
    headers,
    renew: async (refresh, sent) => {
      if (sent['authorization'] !== headers()['authorization']) return true; // another request renewed it
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

/** Concurrent calls share one run of `work` and its result. */
function singleFlight(): (work: () => Promise<boolean>) => Promise<boolean> {
  let flying: Promise<boolean> | undefined;
  return (work) => {
    flying ??= work().finally(() => {
      flying = undefined;
    });
    return flying;
  };
}

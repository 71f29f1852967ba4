import type { Operations, SignIn } from './areas/index.ts';
import { routes } from './areas/routes.ts';
import type { Credential } from './credentials.ts';
import { FoyerError, failureOf, type NotFoyer } from './failure.ts';

/** How requests are sent. */
export interface ClientOptions {
  /** Where the server is, such as https://media.example. */
  server: string;
  /** Without it, only public operations work. */
  credential?: Credential;
  /** `X-Client-Id`, 16 to 64 letters, digits, dots, dashes: the same for the life of an installation. */
  clientId?: string;
  /** `X-Client-Name`, as people see it among their devices. */
  clientName?: string;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
}

type Word = string | number | boolean;

/** The parts of one request. */
export interface RequestParts {
  params?: Readonly<Record<string, Word | undefined>> | undefined;
  query?: Readonly<Record<string, Word | readonly string[] | null | undefined>> | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

type Name = keyof Operations;

interface Route {
  method: string;
  path: string;
  /** The response is neither JSON nor empty. */
  bytes: boolean;
  /** Needs no credential. */
  open: boolean;
}

export function routeOf(name: Name): Route {
  const [method = '', path = '', ...words] = routes[name].split(' ');
  return { method, path, bytes: words.includes('bytes'), open: words.includes('open') };
}

/** Sends requests; renews the credential once when the server refuses it. */
export class Transport {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Returns a successful response. Throws FoyerError, NotFoyer, or the error of fetch. */
  async send(name: Name, parts: RequestParts): Promise<Response> {
    const { credential } = this.#options;
    const sent = credential?.headers() ?? {};
    const response = await this.#once(name, parts, sent);
    if (succeeded(response)) return response;
    const failure = await failureOf(response);
    if (!credential || !mayRenew(name, failure) || !(await this.#renewed(credential, sent))) throw failure;
    const second = await this.#once(name, parts, credential.headers());
    if (succeeded(second)) return second;
    throw await failureOf(second);
  }

  /** False when the sign-in has ended: the caller then gets the first refusal. */
  async #renewed(credential: Credential, sent: Record<string, string>): Promise<boolean> {
    try {
      return (await credential.renew?.((token, key) => this.#refresh(token, key), sent)) ?? false;
    } catch (error) {
      if (error instanceof FoyerError && error.status === 401) return false;
      throw error;
    }
  }

  /** Repeats a request whose response was lost, with the same key: the server does not count it as a second use of the token. */
  async #refresh(refreshToken: string | undefined, retryKey = newKey()): Promise<SignIn> {
    const headers = { 'idempotency-key': retryKey };
    const body = refreshToken === undefined ? {} : { refreshToken };
    const refresh = (): Promise<Response> => this.#once('refreshSession', { body, headers }, {});
    const response = await refresh().catch(refresh);
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as SignIn;
  }

  #once(name: Name, parts: RequestParts, credential: Record<string, string>): Promise<Response> {
    const { server, clientId, clientName } = this.#options;
    const { body, type } = bodyOf(parts.body);
    const headers = {
      ...(type && { 'content-type': type }),
      ...(clientId && { 'x-client-id': clientId }),
      ...(clientName && { 'x-client-name': clientName }),
      ...credential,
      ...parts.headers,
    };
    const send = this.#options.fetch ?? fetch;
    return send(addressOf(server, name, parts), {
      method: routeOf(name).method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(parts.signal && { signal: parts.signal }),
      credentials: this.#options.credential?.cookies ? 'include' : 'omit',
    });
  }
}

/** 128 random bits; randomUUID does not exist on a page that was loaded over http. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

const TOKENS = ['UNAUTHENTICATED', 'AUTH_TOKEN_EXPIRED', 'AUTH_TOKEN_INVALID'];

const succeeded = ({ ok, status }: Response): boolean => ok || status === 304;

/** A 401 about the token, not about a password or code in the request. */
function mayRenew(name: Name, failure: FoyerError | NotFoyer): boolean {
  if (routeOf(name).open || !(failure instanceof FoyerError)) return false;
  return TOKENS.includes(failure.code) && !('triesLeft' in (failure.details as object));
}

function bodyOf(body: unknown): { body?: NonNullable<RequestInit['body']>; type?: string } {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  if (body instanceof Blob) return { body, ...(body.type && { type: body.type }) };
  if (body instanceof Uint8Array) return { body: body as Uint8Array<ArrayBuffer> };
  return { body: JSON.stringify(body), type: 'application/json' };
}

/** The whole address of an operation; it holds no credential. */
export function addressOf(server: string, name: Name, { params = {}, query = {} }: RequestParts): string {
  const path = routeOf(name).path.replace(/\{(\w+)\}/g, (_, one: string) => {
    const value = params[one];
    if (value === undefined || value === '') throw new TypeError(`${name} needs params.${one}`);
    return encodeURIComponent(String(value));
  });
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== null) words.set(key, String(value));
  const text = words.toString();
  return `${server.replace(/\/+$/, '')}/api/v1${path}${text && `?${text}`}`;
}

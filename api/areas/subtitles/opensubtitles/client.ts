// One request of the REST API of OpenSubtitles, with its key and its token.
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { keysInForce, noteRefusal } from '#platform/agents/keys.store.ts';
import { takeSlot } from '#platform/agents/pace.ts';
import { dropToken, keepToken, knownToken } from '#platform/agents/tokens.ts';
import { sha256 } from '#platform/keys.ts';
import { type OutboundAnswer, OutboundRefused } from '#platform/outbound.ts';
import { admit, noteFailure, noteSuccess, pause } from '../providers/breaker.ts';
import { type Means, ProviderFault } from '../providers/provider.ts';
import { ErrorBody, Login } from './answers.ts';

export const ID = 'opensubtitles';
const AGENT = 'Foyer v1.0';
const MOST_BYTES = 4 << 20;
/** Five requests a second from one address. */
const RATE = { everyMs: 200, burst: 5 };
const TOKEN_SEC = 12 * 3600;
const FALLBACK_SEC = 60;
/** After a refusal; other keys or another address are tried at once. */
const REFUSED_SEC = 1800;

export interface Request<S extends z.ZodType> {
  method?: 'GET' | 'POST';
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: object;
  schema: S;
  /** The part of the service that is paused when a quota is spent. */
  circuit: string;
}

interface Session {
  base: string;
  token?: string;
}

type Keys = Awaited<ReturnType<typeof keysOf>>;

/** The keys in force, and whether one is missing. */
export async function keysOf({ config, db, keys }: Means['deps']) {
  return keysInForce({ db, config, ring: keys }, ID);
}

/** The answer of the API. A token that ended is renewed once. Throws `ProviderFault`. */
export async function requestApi<S extends z.ZodType>(means: Means, request: Request<S>): Promise<z.output<S>> {
  const { redis } = means.deps;
  await admit(redis, ID);
  if (request.circuit !== ID) await admit(redis, request.circuit);
  const keys = await keysOf(means.deps);
  await admit(redis, refusalCircuit(means.deps, keys));
  try {
    const answer = await sentInSession(means, keys, request);
    const value = await judged(means, { keys, request, answer });
    await noteSuccess(redis, ID);
    await noteRefusal({ ...means.deps, ring: means.deps.keys }, keys.values, false);
    return value;
  } catch (error) {
    const fault = faultOf(error);
    if (!means.signal.aborted || fault.reason === 'timeout') await noted(means, fault);
    throw fault;
  }
}

async function noted({ deps: { redis, log } }: Means, fault: ProviderFault): Promise<void> {
  log.info({ provider: ID, reason: fault.reason, err: fault.message }, 'a subtitle provider failed');
  if (fault.reason === 'error' || fault.reason === 'timeout') await noteFailure(redis, ID);
}

/** A failure of the network, or our own limits. */
export function faultOf(error: unknown): ProviderFault {
  if (error instanceof ProviderFault) return error;
  const isLate = error instanceof OutboundRefused ? error.reason === 'time' : (error as Error).name === 'TimeoutError';
  const isAborted = (error as Error).name === 'AbortError';
  return new ProviderFault(isLate || isAborted ? 'timeout' : 'error', String((error as Error).message).slice(0, 300));
}

async function sentInSession<S extends z.ZodType>(
  means: Means,
  keys: Keys,
  request: Request<S>,
): Promise<OutboundAnswer> {
  const session = await sessionOf(means, keys);
  const answer = await send(means, { keys, session, request });
  if (answer.status !== 401 || session.token === undefined) return answer;
  await dropToken(tokenPlace(means, keys));
  return send(means, { keys, session: await sessionOf(means, keys), request });
}

/** A token goes to the address that gave it only. */
const tokenPlace = ({ deps }: Means, { values }: Keys) => ({
  ...{ redis: deps.redis, ring: deps.keys, agent: ID, keys: { ...values, base: baseOf(deps) } },
});

/** The circuit that a refusal of these keys by this address opens. */
export function refusalCircuit(deps: Means['deps'], { values }: Keys): string {
  const sorted = Object.entries({ ...values, base: baseOf(deps) }).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${ID}:${sha256(JSON.stringify(sorted)).slice(0, 16)}`;
}

/** The address of the setting without a session; a session has the address that the login named. */
async function sessionOf(means: Means, keys: Keys): Promise<Session> {
  const base = baseOf(means.deps);
  const { 'opensubtitles.username': username, 'opensubtitles.password': password } = keys.values;
  if (username === undefined || password === undefined) return { base };
  const place = tokenPlace(means, keys);
  const known = await knownToken(place);
  if (known !== undefined) return sessionIn(known, base);
  const request = { method: 'POST', path: '/login', body: { username, password }, schema: Login, circuit: ID } as const;
  const answer = await send(means, { keys, session: { base }, request });
  const { token, base_url: host } = await judged(means, { keys, request, answer });
  const session = { token, host };
  await keepToken(place, JSON.stringify(session), TOKEN_SEC);
  return sessionIn(JSON.stringify(session), base);
}

function sessionIn(kept: string, base: string): Session {
  const { token, host } = JSON.parse(kept) as { token: string; host?: string | null };
  return { token, base: host ? hostBase(host, base) : base };
}

/**
 * The address of a host that the login named, with or without a scheme. One of another domain, or less safe than the
 * setting, would get the token, so the address of the setting stays.
 */
function hostBase(host: string, base: string): string {
  const own = new URL(base);
  const address = host.includes('://') ? host : `${own.protocol}//${host}`;
  if (!URL.canParse(address)) return base;
  const named = new URL(address);
  const isSafe = named.protocol === 'https:' || named.protocol === own.protocol;
  return isSafe && domainOf(named.hostname) === domainOf(own.hostname) ? named.origin : base;
}

/** The last two labels of a name, or a whole address. */
const domainOf = (hostname: string): string =>
  isIP(hostname) !== 0 || hostname.startsWith('[') ? hostname : hostname.split('.').slice(-2).join('.');

const trimmed = (address: string): string => address.replace(/\/{1,4}$/, '');
const baseOf = ({ settings }: Means['deps']): string => trimmed(settings.get('subtitles.opensubtitles.baseUrl'));

/** Parameters in order and in lower case: the service redirects anything else. */
function searchOf(query: Request<z.ZodType>['query']): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name.toLowerCase(), String(value).toLowerCase()] as const],
  );
  const sorted = pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%20', '+').replaceAll('%2C', ',')}`)
    .join('&');
}

async function send<S extends z.ZodType>(
  means: Means,
  { keys, session, request }: { keys: Keys; session: Session; request: Request<S> },
): Promise<OutboundAnswer> {
  const { deps, signal } = means;
  const slot = await takeSlot(deps.redis, { id: ID, rate: RATE }, 5000);
  if (slot.closed) throw new ProviderFault('quota', 'too many requests of this server');
  await sleep(slot.waitMs, undefined, { signal });
  const search = searchOf(request.query);
  return deps.catalogues.outbound(`${session.base}/api/v1${request.path}${search && `?${search}`}`, {
    method: request.method ?? 'GET',
    headers: {
      ...{ accept: 'application/json', 'user-agent': AGENT, 'api-key': keys.values['opensubtitles.apiKey'] ?? '' },
      ...(request.body && { 'content-type': 'application/json' }),
      ...(session.token !== undefined && { authorization: `Bearer ${session.token}` }),
    },
    ...(request.body && { body: JSON.stringify(request.body) }),
    ...{ maxBytes: MOST_BYTES, maxRedirects: 0, signal },
  });
}

/** The value of an answer, or the fault that it is. */
async function judged<S extends z.ZodType>(
  { deps }: Means,
  { keys, request, answer }: { keys: Keys; request: Request<S>; answer: OutboundAnswer },
): Promise<z.output<S>> {
  const { status } = answer;
  const json = jsonOf(answer.body);
  if (status === 401 || status === 403) {
    await noteRefusal({ ...deps, ring: deps.keys }, keys.values, true);
    await pause(deps.redis, refusalCircuit(deps, keys), { forSec: REFUSED_SEC, reason: 'refused' });
    throw new ProviderFault('refused', `status ${status}`);
  }
  if (status === 429 || status === 406) {
    const afterSec = status === 429 ? retryAfterOf(answer) : resetOf(json);
    await pause(deps.redis, status === 429 ? ID : request.circuit, { forSec: afterSec, reason: 'quota' });
    throw new ProviderFault('quota', `status ${status}`, afterSec);
  }
  if (status !== 200) throw new ProviderFault('error', `status ${status}`);
  const read = request.schema.safeParse(json);
  if (!read.success) throw new ProviderFault('error', json === undefined ? 'no JSON' : 'an answer of another shape');
  return read.data;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function retryAfterOf({ headers }: OutboundAnswer): number {
  const value = (headers['retry-after'] ?? headers['ratelimit-reset'] ?? '').toString().trim();
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : FALLBACK_SEC;
}

function resetOf(json: unknown): number {
  const at = Date.parse(ErrorBody.safeParse(json).data?.reset_time_utc ?? '');
  return Number.isFinite(at) ? Math.max(1, Math.ceil((at - Date.now()) / 1000)) : 3600;
}

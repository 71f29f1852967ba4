// One request to a catalogue with its credentials, over the guarded client.
import type { Config } from '../config.ts';
import { NEVER_CALLED } from '../never-called.ts';
import {
  createOutbound,
  type Outbound,
  type OutboundAnswer,
  type OutboundOptions,
  OutboundRefused,
} from '../outbound.ts';
import type { Settings } from '../settings.ts';
import type { Agent, CatalogueRequest, Credentials } from './agent.ts';
import { CatalogueFault } from './fault.ts';

/** Answers are read into memory and parsed here, so they are bounded to what that costs. */
const MOST_BYTES = 4 << 20;
const MOST_REDIRECTS = 3;
const USER_AGENT = 'Foyer/1.0 ( https://foyer.media )';

/** Only addresses that the deployment and `metadata.allowedNetworks` permit; never this machine or the cluster. */
export const catalogueOutbound = (config: Config): Outbound =>
  createOutbound({ deny: [...NEVER_CALLED, ...config.clusterNetworks, ...config.apiServerNetworks] });

/** The address of the agent in force, without a slash at its end. */
export function baseOf(settings: Settings, agent: Agent): string {
  const base = settings.get('metadata.baseUrls')[agent.id] ?? agent.address;
  return base.endsWith('/') ? base.slice(0, -1) : base;
}

/** Networks that an agent may reach. An offline server reaches only a mirror in its own networks. */
export function networksOf(settings: Settings): Pick<OutboundOptions, 'allow' | 'only'> {
  const allow = settings.get('metadata.allowedNetworks');
  return settings.get('network.offline') ? { allow, only: allow } : { allow };
}

export interface Sending {
  agent: Agent;
  base: string;
  request: CatalogueRequest;
  credentials: Credentials;
  etag?: string | null | undefined;
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * The answer of the catalogue, whatever its status. Redirects are followed here: credentials stay at the origin that
 * they belong to, so an agent with a key follows none to another one. Throws `CatalogueFault`.
 */
export async function sendTo(
  { outbound, settings }: { outbound: Outbound; settings: Settings },
  sending: Sending,
): Promise<OutboundAnswer> {
  const { agent, base, signal } = sending;
  const first = addressOf(base, sending);
  let url = first;
  for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
    const parts = url.origin === first.origin ? partsOf(sending) : { headers: PLAIN };
    const options: OutboundOptions = {
      ...{ ...networksOf(settings), ...parts, maxBytes: MOST_BYTES, maxRedirects: 0, signal },
      timeoutMs: sending.timeoutMs,
    };
    const answer = await outbound(url.href, options).catch((error: unknown) => {
      throw signal.aborted ? error : faultOf(agent, error);
    });
    const to = redirectOf(answer);
    if (to === undefined) return answer;
    url = followed(sending, url, to);
  }
  throw new CatalogueFault(agent.id, 'redirected');
}

const PLAIN = { accept: 'application/json', 'user-agent': USER_AGENT };

function addressOf(base: string, { request, credentials }: Sending): URL {
  const url = new URL(base + request.path);
  for (const [name, value] of Object.entries({ ...request.query, ...credentials.query }))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

/** Where a redirect leads. Throws when a key or a body would go to another origin. */
function followed({ agent, base, request }: Sending, from: URL, to: string): URL {
  const url = URL.canParse(to, from.href) ? new URL(to, from.href) : undefined;
  const isBound = agent.credentials !== undefined || (request.method ?? 'GET') !== 'GET';
  if (!url || (isBound && url.origin !== new URL(base).origin)) throw new CatalogueFault(agent.id, 'redirected');
  return url;
}

const redirectOf = ({ status, headers }: OutboundAnswer): string | undefined =>
  [301, 302, 303, 307, 308].includes(status) ? headers.location : undefined;

function partsOf({ agent, request, credentials, etag }: Sending): Pick<OutboundOptions, 'headers' | 'method' | 'body'> {
  const { method = 'GET', body } = request;
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return {
    method,
    headers: {
      ...PLAIN,
      ...(typeof body === 'object' && { 'content-type': 'application/json' }),
      ...(typeof body === 'string' && { 'content-type': 'text/plain' }),
      ...agent.headers,
      ...credentials.headers,
      ...(etag && { 'if-none-match': etag }),
    },
    ...(text !== undefined && { body: text }),
  };
}

function faultOf(agent: Agent, error: unknown): CatalogueFault {
  if (!(error instanceof OutboundRefused)) return new CatalogueFault(agent.id, 'unreachable');
  if (error.reason === 'time') return new CatalogueFault(agent.id, 'timeout');
  return new CatalogueFault(agent.id, error.reason === 'size' ? 'invalid-answer' : 'unreachable');
}

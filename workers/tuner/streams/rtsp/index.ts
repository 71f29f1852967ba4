import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type OutboundOptions, OutboundRefused } from '#platform/outbound.ts';
import type { OutboundSocket } from '#platform/outbound-agent.ts';
import { type Credential, credentialOf } from '../../source.ts';
import { SourceFault } from '../fault.ts';
import type { Rests } from '../pace.ts';
import { RtspConnection } from './connection.ts';
import { Moved, RtspSession } from './session.ts';

const PORT = 554;
const MOST_MOVES = 3;
/** Time until the server plays: a device locks on its signal first. */
const PLAY_MS = 8000;

export interface RtspSource {
  url: string;
  /** Sent to the first server alone. */
  headers: Readonly<Record<string, string>>;
  userAgent?: string | undefined;
}

export interface RtspDeps {
  rests?: Rests;
  connect: OutboundSocket;
  networks: Pick<OutboundOptions, 'allow' | 'always'>;
  signal: AbortSignal;
}

interface Place {
  url: string;
  credential: Credential | undefined;
  headers: Readonly<Record<string, string>>;
}

/**
 * Opens the transport stream of an RTSP server, SAT>IP too, as its bytes. The server is named by the address alone: no
 * response leads to another one that is not judged. Throws `SourceFault`.
 */
export async function openRtsp(source: RtspSource, deps: RtspDeps): Promise<AsyncGenerator<Buffer>> {
  const agent = { 'User-Agent': source.userAgent ?? 'Foyer' };
  const { url, credential } = credentialOf(source.url);
  let place: Place = { url, credential, headers: { ...agent, ...source.headers } };
  const late = AbortSignal.timeout(PLAY_MS);
  for (let moves = 0; moves <= MOST_MOVES; moves += 1) {
    try {
      return await opened(place, deps, late);
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      place = movedTo(error.to, place, agent);
    }
  }
  throw new SourceFault('refused', `more than ${MOST_MOVES} other addresses`);
}

function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || PORT}`;
}

/** Another server gets no secrets. */
function movedTo(to: string, from: Place, agent: Readonly<Record<string, string>>): Place {
  if (!URL.canParse(to) || new URL(to).protocol !== 'rtsp:')
    throw new SourceFault('refused', 'the other address is not read');
  const { url } = credentialOf(to);
  const isOwn = hostOf(url) === hostOf(from.url);
  return isOwn ? { ...from, url } : { url, credential: undefined, headers: agent };
}

async function opened(place: Place, deps: RtspDeps, late: AbortSignal): Promise<AsyncGenerator<Buffer>> {
  const { credential, headers, url } = place;
  const socket = await connected(url, deps, late);
  const session = new RtspSession(new RtspConnection(socket, { credential, headers }), url);
  deps.signal.addEventListener('abort', () => void session.close(), { once: true });
  try {
    deps.signal.throwIfAborted();
    await Promise.race([session.play(), failsAt(late)]);
    return session.read(deps.rests);
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function failsAt(late: AbortSignal): Promise<never> {
  if (!late.aborted) await once(late, 'abort');
  throw new SourceFault('unreachable', `the server does not play within ${PLAY_MS} ms`);
}

async function connected(url: string, { connect, networks, signal }: RtspDeps, late: AbortSignal): Promise<Socket> {
  const { hostname: host, port } = new URL(url);
  try {
    const options = { ...networks, signal: AbortSignal.any([late, signal]), timeoutMs: PLAY_MS };
    return await connect({ host, port: Number(port || PORT) }, options);
  } catch (error) {
    const reason = error instanceof OutboundRefused ? 'refused' : 'unreachable';
    throw new SourceFault(reason, (error as Error).message, { cause: error });
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamFault } from '#platform/live/streams.store.ts';
import { SourceFault } from '../fault.ts';
import type { Rests } from '../pace.ts';
import { PacketQueue } from '../packets.ts';
import type { RtspConnection } from './connection.ts';
import { type Description, describedBy } from './description.ts';
import { headerOf, type RtspRequest, type RtspResponse, SAFE_WORD } from './messages.ts';
import { noTransport, type Transport, WAYS, type Way } from './transport.ts';

const OK = 200;
const NO_SESSION = 454;
/** The way is unsupported, or the server does not know its words. */
const OTHER_WAY = new Set([400, 461]);
const MOVED = new Set([301, 302, 303]);
const FAULTS: Readonly<Record<number, StreamFault>> = { 453: 'busy', 503: 'busy' };
/** A server without another time forgets a session after a minute. */
const FORGOTTEN_SEC = 60;
const LONGEST_PAUSE_SEC = 30;
/** A response that is on its way at the end may name a session, which would keep its tuner. */
const LAST_RESPONSE_MS = 500;

/** The server names another address. */
export class Moved extends Error {
  readonly to: string;
  constructor(to: string) {
    super('the stream is at another address');
    this.to = to;
  }
}

/** One stream of a server, from its description to its end. */
export class RtspSession {
  readonly #connection: RtspConnection;
  readonly #url: string;
  readonly #packets = new PacketQueue();
  #transport: Transport | undefined;
  #methods = '';
  /** Address of the session, once the server holds one. */
  #held: string | undefined;
  #aliveEveryMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #playing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(connection: RtspConnection, url: string) {
    this.#connection = connection;
    this.#url = url;
    connection.onEnd = (fault) => this.#packets.end(fault);
  }

  /** Resolves when the server plays. Throws `SourceFault` or `Moved`. */
  play(): Promise<void> {
    this.#playing = this.#play();
    return this.#playing;
  }

  async #play(): Promise<void> {
    const description = isSatIp(this.#url) ? undefined : await this.#describe();
    const response = await this.#setUp(description?.track ?? this.#url);
    const session = description?.session ?? streamAddress(this.#url, response);
    this.#held = session;
    requireOk(await this.#request({ method: 'PLAY', url: session }), 'PLAY');
    this.#requireOpen();
    this.#timer = setInterval(() => void this.#stayAlive(session), this.#aliveEveryMs);
  }

  /** The bytes of the transport stream. */
  async *read(rests?: Rests): AsyncGenerator<Buffer> {
    try {
      yield* this.#packets.read(rests, () => this.#connection.resume());
    } finally {
      await this.close();
    }
  }

  /** Ends the session at the server too, which then has its tuner for others. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    clearInterval(this.#timer);
    this.#packets.end(stopped());
    await Promise.race([this.#playing.catch(() => undefined), sleep(LAST_RESPONSE_MS)]);
    await this.#connection.close(this.#held === undefined ? undefined : { method: 'TEARDOWN', url: this.#held });
    this.#transport?.close();
  }

  #requireOpen(): void {
    if (this.#closing) throw stopped();
  }

  async #request(request: RtspRequest): Promise<RtspResponse> {
    this.#requireOpen();
    return this.#connection.request(request);
  }

  async #describe(): Promise<Description> {
    const options = await this.#request({ method: 'OPTIONS', url: this.#url });
    this.#methods = headerOf(options, 'public') ?? '';
    const headers = { Accept: 'application/sdp' };
    const response = await this.#request({ method: 'DESCRIBE', url: this.#url, headers });
    requireOk(response, 'DESCRIBE');
    const base = headerOf(response, 'content-base') ?? headerOf(response, 'content-location') ?? this.#url;
    return describedBy(response.body, /^rtsp:\/\//i.test(base) ? base : this.#url);
  }

  async #setUp(url: string): Promise<RtspResponse> {
    for (const way of WAYS) {
      const transport = await this.#by(way);
      const headers = { Transport: transport.header };
      const response = await this.#request({ method: 'SETUP', url, headers });
      if (OTHER_WAY.has(response.status)) continue;
      requireOk(response, 'SETUP');
      this.#hold(url, response);
      if (transport.hear(response)) return response;
      throw noTransport();
    }
    throw noTransport();
  }

  /** One way in place of the last one. */
  async #by(way: Way): Promise<Transport> {
    this.#transport?.close();
    this.#transport = undefined;
    const transport = await way(this.#connection, this.#packets);
    if (this.#closing) {
      transport.close();
      throw stopped();
    }
    this.#transport = transport;
    return transport;
  }

  #hold(url: string, response: RtspResponse): void {
    const [id = '', ...rest] = (headerOf(response, 'session') ?? '').split(';');
    if (!SAFE_WORD.test(id.trim())) throw new SourceFault('not-media', 'the server names no session');
    this.#held = url;
    this.#connection.session = id.trim();
    const seconds = Number(rest.map((one) => /^\s*timeout=(\d+)/i.exec(one)?.[1]).find(Boolean) ?? FORGOTTEN_SEC);
    this.#aliveEveryMs = Math.min(Math.max(seconds / 2, 1), LONGEST_PAUSE_SEC) * 1000;
  }

  /** Any request keeps a session; SAT>IP servers know OPTIONS alone. */
  async #stayAlive(url: string): Promise<void> {
    const method = /\bGET_PARAMETER\b/i.test(this.#methods) ? 'GET_PARAMETER' : 'OPTIONS';
    const status = await this.#connection.request({ method, url }).then(
      (response) => response.status,
      () => OK, // its end is reported by the connection
    );
    if (status === NO_SESSION) this.#packets.end(new SourceFault('ended', 'the server ended the session'));
  }
}

const stopped = (): SourceFault => new SourceFault('ended', 'stopped');

/** An address of SAT>IP names its transponder, and has no description. */
function isSatIp(url: string): boolean {
  const { searchParams } = new URL(url);
  return searchParams.has('msys') || (searchParams.has('freq') && searchParams.has('pids'));
}

/** SAT>IP names the stream of a session by a number. */
function streamAddress(url: string, response: RtspResponse): string {
  const id = headerOf(response, 'com.ses.streamid');
  return id !== undefined && /^\d+$/.test(id) ? `rtsp://${new URL(url).host}/stream=${id}` : url;
}

function requireOk(response: RtspResponse, method: string): void {
  const { status } = response;
  const to = MOVED.has(status) ? headerOf(response, 'location') : undefined;
  if (to !== undefined) throw new Moved(to);
  if (status !== OK) throw new SourceFault(FAULTS[status] ?? 'refused', `the server answered ${status} to ${method}`);
}

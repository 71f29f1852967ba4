// A server of RTSP on loopback that speaks the protocol itself: RTP inside the connection or by UDP, sessions that are
// forgotten without a sign of life, passwords, slots, and addresses of SAT>IP.
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { atEnd } from './stores.ts';

export interface RtspServerOptions {
  ways?: ('tcp' | 'udp')[];
  slots?: number;
  /** Seconds after which a session without a request ends. */
  timeoutSec?: number;
  login?: { username: string; password: string; kind: 'digest' | 'basic'; qop?: boolean };
  satIp?: boolean;
  /** Answers to a method in place of the usual ones. */
  answers?: Partial<Record<string, string>>;
  /** Changes the order of the packets of a datagram stream. */
  order?: (packets: Buffer[]) => Buffer[];
  host?: string;
  /** Time from a request to its response. */
  slowMs?: Partial<Record<string, number>>;
}

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
}

export interface RtspServer {
  url: string;
  port: number;
  requests: ReceivedRequest[];
  /** Sessions that are held now, by id. */
  held: Map<string, Session>;
  connections: number;
  /** Connections that are open now. */
  open(): number;
  methods(): string[];
}

interface Session {
  id: string;
  send?: (packet: Buffer) => void;
  timer?: NodeJS.Timeout;
  alive: number;
  clientPort?: number;
}

const PACKETS = 7 * 188;
const NONCE = 'f3a1';
const REALM = 'tv';
const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=tv',
  't=0 0',
  'a=control:*',
  'm=video 0 RTP/AVP 33',
  'a=control:track1',
  '',
];

/** Sends the bytes of a broadcast of eight seconds in real time, again and again. */
export async function rtspServer(bytes: Buffer, options: RtspServerOptions = {}): Promise<RtspServer> {
  const { host = '127.0.0.1', slots = 2, timeoutSec = 60 } = options;
  const held = new Map<string, Session>();
  const server: RtspServer = {
    ...{ url: '', port: 0, requests: [], held, connections: 0 },
    methods: () => server.requests.map(({ method }) => method),
    open: () => sockets.size,
  };
  const udp = createSocket('udp4');
  const sockets = new Set<Socket>();
  const end = (session: Session): void => {
    clearInterval(session.timer);
    held.delete(session.id);
  };
  const watch = setInterval(() => {
    for (const session of held.values()) if (Date.now() - session.alive > timeoutSec * 1000) end(session);
  }, 100);

  const respond = (request: ReceivedRequest, socket: Socket): string => {
    const given = options.answers?.[request.method];
    if (given !== undefined) return given;
    if (!isAllowed(request, options.login)) return `401 Unauthorized\r\n${challengeOf(options.login)}`;
    const session = held.get((request.headers['session'] ?? '').split(';')[0] ?? '');
    if (session) session.alive = Date.now();
    const known = HANDLERS[request.method];
    return known ? known(request, session, socket) : '501 Not Implemented';
  };

  const HANDLERS: Record<string, (request: ReceivedRequest, session: Session | undefined, socket: Socket) => string> = {
    OPTIONS: ({ headers }, session) => {
      if (headers['session'] && !session) return '454 Session Not Found';
      const more = options.satIp ? '' : ', GET_PARAMETER';
      return `200 OK\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN${more}`;
    },
    GET_PARAMETER: (_request, session) => (session ? '200 OK' : '454 Session Not Found'),
    DESCRIBE: ({ url }) => {
      if (options.satIp) return '404 Not Found';
      const text = SDP.join('\r\n');
      return `200 OK\r\nContent-Base: ${url}/\r\nContent-Type: application/sdp\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    },
    SETUP: ({ headers }, _session, socket) => {
      const wanted = headers['transport'] ?? '';
      const way = wanted.includes('/TCP') ? 'tcp' : 'udp';
      if (!(options.ways ?? ['tcp', 'udp']).includes(way)) return '461 Unsupported Transport';
      if (held.size >= slots) return '503 Service Unavailable';
      const id = String(1000 + server.requests.length);
      const session: Session = { id, alive: Date.now() };
      held.set(id, session);
      const clientPort = Number(/client_port=(\d+)/.exec(wanted)?.[1] ?? 0);
      if (way === 'udp') session.clientPort = clientPort;
      session.send =
        way === 'udp'
          ? (packet) => udp.send(packet, clientPort, socket.remoteAddress)
          : (packet) =>
              void socket.write(
                Buffer.concat([Buffer.from([0x24, 0, packet.length >> 8, packet.length & 255]), packet]),
              );
      const back =
        way === 'udp'
          ? `RTP/AVP;unicast;client_port=${clientPort}-${clientPort + 1};server_port=${udp.address().port}-1`
          : 'RTP/AVP/TCP;unicast;interleaved=0-1';
      const stream = options.satIp ? '\r\ncom.ses.streamID: 7' : '';
      return `200 OK\r\nTransport: ${back}\r\nSession: ${id};timeout=${timeoutSec}${stream}`;
    },
    PLAY: ({ url }, session) => {
      if (!session) return '454 Session Not Found';
      if (options.satIp && !url.endsWith('/stream=7')) return '404 Not Found';
      play(session, bytes, options.order);
      return '200 OK\r\nRTP-Info: url=x;seq=1';
    },
    TEARDOWN: (_request, session) => {
      if (session) end(session);
      return session ? '200 OK' : '454 Session Not Found';
    },
  };

  const listener = createServer((socket) => {
    server.connections += 1;
    sockets.add(socket);
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let at = rest.indexOf('\r\n\r\n'); at >= 0; at = rest.indexOf('\r\n\r\n')) {
        const request = requestOf(rest.slice(0, at));
        rest = rest.slice(at + 4);
        server.requests.push(request);
        const answer = respond(request, socket);
        const text = `RTSP/1.0 ${answer.replace(/^([^\r]*)/, `$1\r\nCSeq: ${request.headers['cseq']}`)}`;
        const whole = text.includes('\r\n\r\n') ? text : `${text}\r\n\r\n`;
        const slowMs = options.slowMs?.[request.method];
        if (slowMs === undefined) socket.write(whole);
        else setTimeout(() => socket.write(whole), slowMs);
      }
    });
  }).listen(0, host);
  udp.bind(0, host);
  await Promise.all([once(listener, 'listening'), once(udp, 'listening')]);
  atEnd(() => {
    clearInterval(watch);
    for (const session of held.values()) end(session);
    for (const socket of sockets) socket.destroy();
    listener.close();
    udp.close();
  });
  server.port = (listener.address() as AddressInfo).port;
  server.url = `rtsp://${host}:${server.port}/tv`;
  return server;
}

function requestOf(text: string): ReceivedRequest {
  const [first = '', ...lines] = text.split('\r\n');
  const [method = '', url = ''] = first.split(' ');
  const headers = lines.map((line) => [
    line.split(':', 1)[0]?.toLowerCase() ?? '',
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return { method, url, headers: Object.fromEntries(headers) as Record<string, string> };
}

type Login = RtspServerOptions['login'];

function challengeOf(login: Login): string {
  if (login?.kind === 'basic') return `WWW-Authenticate: Basic realm="${REALM}"`;
  const qop = login?.qop ? ', qop="auth"' : '';
  return `WWW-Authenticate: Basic realm="${REALM}"\r\nWWW-Authenticate: Digest realm="${REALM}", nonce="${NONCE}"${qop}`;
}

const md5 = (...parts: string[]): string => createHash('md5').update(parts.join(':')).digest('hex');

function isAllowed({ method, headers }: ReceivedRequest, login: Login): boolean {
  if (!login) return true;
  const { username, password, kind } = login;
  const given = headers['authorization'] ?? '';
  if (kind === 'basic') return given === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const part = (name: string): string => new RegExp(`\\b${name}="?([^",]*)`).exec(given)?.[1] ?? '';
  const secret = md5(username, REALM, password);
  const target = md5(method, part('uri'));
  const middle = login.qop ? [part('nc'), part('cnonce'), 'auth'] : [];
  return given.startsWith('Digest ') && part('response') === md5(secret, NONCE, ...middle, target);
}

function play(session: Session, bytes: Buffer, order = (packets: Buffer[]) => packets): void {
  const perMs = bytes.length / 8000;
  const began = performance.now();
  let sent = 0;
  let number = 65_500; // it passes its end soon
  session.timer = setInterval(() => {
    const due = Math.floor((performance.now() - began) * perMs);
    const packets: Buffer[] = [];
    for (; sent + PACKETS <= due; sent += PACKETS) {
      const at = sent % bytes.length;
      const rest = bytes.subarray(0, Math.max(0, at + PACKETS - bytes.length));
      const payload = [bytes.subarray(at, at + PACKETS), rest];
      const head = Buffer.alloc(12);
      head.writeUInt16BE(0x8021, 0);
      head.writeUInt16BE(number & 0xffff, 2);
      head.writeUInt32BE(Math.floor((performance.now() - began) * 90), 4);
      head.writeUInt32BE(77, 8);
      number += 1;
      packets.push(Buffer.concat([head, ...payload]));
    }
    for (const packet of order(packets)) session.send?.(packet);
  }, 40);
}

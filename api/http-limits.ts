// Limits of connections: how many there are, and how long a body may stall.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isUpload } from '#kernel/body.ts';
import { addressGroup, inRanges } from '#kernel/request.ts';

export interface ConnectionLimits {
  /** Concurrent connections; further ones are refused with 503, except probes of the platform. */
  most: number;
  /** For one address, or one /64 network, that is neither `inside` nor `trusted`. */
  mostOfAddress: number;
  /** Networks of proxies and households, which are not limited by address. */
  inside: readonly string[];
  /** Trusted proxies, wherever they are: their connections belong to many clients. */
  trusted: () => readonly string[];
  /** A body without progress for this long is aborted, and one that takes four times as long in total. */
  stallMs: number;
  checkMs: number;
}

export const USUAL_LIMITS: ConnectionLimits = {
  most: 4000,
  mostOfAddress: 500,
  inside: [
    ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
    ...['::1/128', 'fc00::/7', 'fe80::/10'],
  ],
  trusted: () => [],
  stallMs: 30_000,
  checkMs: 5000,
};
/** Connections above `most`, reserved for probes. */
const SPARE = 500;
const MOST_STALLS = 4;
/** An upload may stall ten times as long as another body: five minutes with the usual limits. */
const UPLOAD_STALLS = 10;
const PROBES = new Set(['/api/v1/server/live', '/api/v1/server/ready']);

/** Refuses a connection or a request when there is no capacity; `connection` also works before a request was read. */
export interface Refusing {
  connection: (socket: Socket) => void;
  request: (response: ServerResponse) => void;
}

/** Limits the connections of a server; returns the listener to serve with. */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  { handle, refusing }: { handle: RequestListener; refusing: Refusing },
): RequestListener {
  const open = new Map<string, number>();
  const surplus = new WeakSet<Socket>();
  let count = 0;
  server.maxConnections = limits.most + SPARE;
  server.on('connection', (socket: Socket) => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d)/, '');
    const unbounded = inRanges(address, limits.inside) || inRanges(address, limits.trusted());
    const group = unbounded ? '' : addressGroup(address);
    const ofGroup = (open.get(group) ?? 0) + 1;
    open.set(group, ofGroup);
    count += 1;
    socket.once('close', () => {
      count -= 1;
      const left = (open.get(group) ?? 1) - 1;
      if (left > 0) open.set(group, left);
      else open.delete(group);
    });
    if (group !== '' && ofGroup > limits.mostOfAddress) refusing.connection(socket);
    else if (count > limits.most) {
      surplus.add(socket);
      server.closeIdleConnections();
    }
  });
  return (request, response) => {
    if (!surplus.has(request.socket)) return handle(request, response);
    response.setHeader('Connection', 'close');
    return PROBES.has(request.url ?? '') ? handle(request, response) : refusing.request(response);
  };
}

interface Reading {
  /** Reset when the reader of the request gives up. */
  socket: Socket;
  response: ServerResponse;
  bytes: number;
  since: number;
  began: number;
}

/** Closes connections with stalled bodies; an upload that is still processed may stall longer. */
export function closeStalled(server: Server, { stallMs, checkMs }: ConnectionLimits): void {
  const reading = new Map<IncomingMessage, Reading>();
  server.on('request', (request, response) => {
    if (request.complete || !hasBody(request)) return;
    const now = performance.now();
    const { socket } = request;
    reading.set(request, { socket, response, bytes: socket.bytesRead, since: now, began: now });
    request.once('close', () => {
      if (request.complete) reading.delete(request);
    });
  });
  const timer = setInterval(() => {
    for (const [request, seen] of reading) look(request, seen);
  }, checkMs).unref();
  server.once('close', () => clearInterval(timer));

  const isOver = (seen: Reading, isShort: boolean): boolean =>
    isShort ? isLate(seen, stallMs) : performance.now() - seen.since >= UPLOAD_STALLS * stallMs;

  function look(request: IncomingMessage, seen: Reading): void {
    const { bytesRead } = seen.socket;
    const answered = seen.response.writableEnded;
    const waits = request.readableLength >= request.readableHighWaterMark && !answered; // it waits for us, not for its sender
    if (bytesRead !== seen.bytes || waits) Object.assign(seen, { bytes: bytesRead, since: performance.now() });
    if (request.complete || seen.socket.destroyed) reading.delete(request);
    else if (!waits && isOver(seen, answered || !isUpload(request))) seen.socket.destroy();
  }
}

function isLate({ since, began }: Reading, stallMs: number): boolean {
  const now = performance.now();
  return now - since >= stallMs || now - began >= MOST_STALLS * stallMs;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

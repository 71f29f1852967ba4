// What connections may take: how many there are, and how long a body may stand still.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isUpload } from '#kernel/body.ts';
import { addressGroup, inRanges } from '#kernel/request.ts';

export interface ConnectionLimits {
  /** Connections at once; further ones are told to come back, but for the probes of the platform. */
  most: number;
  /** Of one address, or network of 64 bits, that is neither `inside` nor `trusted`. */
  mostOfAddress: number;
  /** Where proxies and households are. */
  inside: readonly string[];
  /** Proxies in force now, wherever they are: one connection of theirs is that of anybody. */
  trusted: () => readonly string[];
  /** A body that did not go on for so long is given up; one that took four times as long in all too. */
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
/** Over `most`, so that a probe still finds a place. */
const SPARE = 500;
const MOST_STALLS = 4;
/** An upload may stand still for ten times as long as another body: five minutes as it is used. */
const UPLOAD_STALLS = 10;
const PROBES = new Set(['/api/v1/server/live', '/api/v1/server/ready']);

/** An answer for whom there is no place now: `end` writes it, however far the request has come. */
export interface Refusing {
  connection: (socket: Socket) => void;
  request: (response: ServerResponse) => void;
}

/** Bounds the connections of a server; answers the listener to serve with. */
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
  /** The request lets go of it when its reader gives up. */
  socket: Socket;
  response: ServerResponse;
  bytes: number;
  since: number;
  began: number;
}

/** Closes connections whose body stands still; an upload that is not answered yet may do so for longer. */
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
    const waits = request.readableLength >= request.readableHighWaterMark && !answered; // for us, not for its sender
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

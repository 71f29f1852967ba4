import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ErrorCode, errorCodes } from '#kernel/errors.ts';
import { type ConnectionLimits, closeStalled, limitConnections, USUAL_LIMITS } from './http-limits.ts';

/** A filter of 2000 letters that each take twelve escaped bytes, beside a cursor, a token and cookies. */
const MOST_HEAD_BYTES = 32 << 10;
const RETRY_AFTER_SEC = 5;

/** What Node's parser refused, in the contract's words: a head too large, or what is no HTTP. */
function said(code: string | undefined): Told {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The address and headers are too large',
      details: { maxBytes: MOST_HEAD_BYTES },
    };
  const issue = { path: [], code: 'not_http', message: 'not HTTP' };
  return { code: 'VALIDATION_FAILED', message: 'The request is not valid', details: { issues: [issue] } };
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  end(socket, said(error.code));
}

interface Told {
  code: ErrorCode;
  message: string;
  details: object;
}

const BUSY: Told = {
  code: 'SERVICE_STARTING',
  message: 'Too many connections',
  details: { waitingFor: 'capacity' },
};

/** The envelope and its headers, for where there is no pipeline. */
function answerOf({ code, message, details }: Told): { status: number; headers: Record<string, string>; body: string } {
  const requestId = randomUUID();
  const body = JSON.stringify({ error: { code, message, details, requestId } });
  const { status } = errorCodes[code];
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...(status === 503 && { 'Retry-After': String(RETRY_AFTER_SEC) }),
  };
  return { status, headers, body };
}

/** Answers on the bare socket, and closes it. */
function end(socket: Socket, told: Told): void {
  const { status, headers, body } = answerOf(told);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, '', body].join('\r\n'));
  socket.destroySoon();
}

function tellBusy(response: ServerResponse): void {
  const { status, headers, body } = answerOf(BUSY);
  response.writeHead(status, headers).end(body);
}

/** The server of the API; what never becomes a request is refused by the contract's envelope too. */
export function createApiServer(handle: RequestListener, limits: ConnectionLimits = USUAL_LIMITS): Server {
  const server = createServer({
    requestTimeout: 0, // streams and uploads
    headersTimeout: 20_000,
    connectionsCheckingInterval: 5000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: MOST_HEAD_BYTES,
  });
  const refusing = { connection: (socket: Socket) => end(socket, BUSY), request: tellBusy };
  closeStalled(server, limits);
  server.on('request', limitConnections(server, limits, { handle, refusing }));
  return server.on('clientError', (error, socket) => refuse(error, socket as Socket));
}

/** A turn of the event loop so short that no connection came in it, and how long to wait for one. */
const SHORT_TURN_MS = 0.2;
const MOST_WAIT_MS = 1000;

/** Ends after a turn of the event loop in which no connection was taken: a turn takes but one of those that wait. */
async function queueEmpty(server: Server): Promise<void> {
  let taken = false;
  const note = () => {
    taken = true;
  };
  server.on('connection', note);
  for (const end = performance.now() + MOST_WAIT_MS; performance.now() < end; ) {
    taken = false;
    const began = performance.now();
    await nextTurn();
    if (!taken && performance.now() - began < SHORT_TURN_MS) break;
  }
  server.off('connection', note);
}

/**
 * Closes the listener in a moment when no connection waits in its queue, as one on a shared port takes its queue with it
 * (reset, not passed on). Ends when the open requests have; after `deadlineMs` what is left is cut.
 */
export async function closeGently(server: Server, deadlineMs: number): Promise<void> {
  await queueEmpty(server);
  const closed = once(server, 'close');
  server.close();
  setTimeout(() => server.closeAllConnections(), deadlineMs).unref();
  await closed;
}

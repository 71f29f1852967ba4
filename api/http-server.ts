import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ErrorCode, errorCodes } from '#kernel/errors.ts';
import { type ConnectionLimits, closeStalled, limitConnections, USUAL_LIMITS } from './http-limits.ts';

/** Room for a filter of 2000 letters that each take twelve escaped bytes, plus a cursor, a token and cookies. */
const MOST_HEAD_BYTES = 32 << 10;
const RETRY_AFTER_SEC = 5;

/** Maps errors of Node's parser to errors of the API: a head too large, or not HTTP. */
function refusalOf(code: string | undefined): Refusal {
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
  end(socket, refusalOf(error.code));
}

interface Refusal {
  code: ErrorCode;
  message: string;
  details: object;
}

const BUSY: Refusal = {
  code: 'SERVICE_STARTING',
  message: 'Too many connections',
  details: { waitingFor: 'capacity' },
};

/** The error envelope and its headers, for use outside the request pipeline. */
function answerOf({ code, message, details }: Refusal): {
  status: number;
  headers: Record<string, string>;
  body: string;
} {
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

/** Writes the response to the bare socket and closes it. */
function end(socket: Socket, refusal: Refusal): void {
  const { status, headers, body } = answerOf(refusal);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, '', body].join('\r\n'));
  socket.destroySoon();
}

function refuseBusy(response: ServerResponse): void {
  const { status, headers, body } = answerOf(BUSY);
  response.writeHead(status, headers).end(body);
}

/** The HTTP server of the API; requests that Node refuses get the API's error envelope too. */
export function createApiServer(handle: RequestListener, limits: ConnectionLimits = USUAL_LIMITS): Server {
  const server = createServer({
    requestTimeout: 0, // because of streams and uploads
    headersTimeout: 20_000,
    connectionsCheckingInterval: 5000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: MOST_HEAD_BYTES,
  });
  const refusing = { connection: (socket: Socket) => end(socket, BUSY), request: refuseBusy };
  closeStalled(server, limits);
  server.on('request', limitConnections(server, limits, { handle, refusing }));
  return server.on('clientError', (error, socket) => refuse(error, socket as Socket));
}

/** A turn of the event loop this short accepted no connection; the other is the longest wait for one. */
const SHORT_TURN_MS = 0.2;
const MOST_WAIT_MS = 1000;

/** Resolves after a turn of the event loop that accepted no connection; each turn accepts only one. */
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
 * Closes the listener when no connection waits in its accept queue, because on a shared port those are reset instead of
 * passed on. Resolves when the open requests have ended; after `deadlineMs` the remaining ones are closed.
 */
export async function closeGently(server: Server, deadlineMs: number): Promise<void> {
  await queueEmpty(server);
  const closed = once(server, 'close');
  server.close();
  setTimeout(() => server.closeAllConnections(), deadlineMs).unref();
  await closed;
}

import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errorCodes } from '#kernel/errors.ts';

/** The longest filter, sort and cursor of one request, each letter written as four escaped bytes. */
const MOST_HEAD_BYTES = 256 << 10;

/** What Node's parser refused, in the contract's words: a head too large, or what is no HTTP. */
function said(code: string | undefined): { code: ErrorCode; message: string; details: object } {
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
  const { code, message, details } = said(error.code);
  const requestId = randomUUID();
  const body = JSON.stringify({ error: { code, message, details, requestId } });
  const { status } = errorCodes[code];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** The server of the API; what never becomes a request is refused by the contract's envelope too. */
export function createApiServer(handle: RequestListener): Server {
  const limits = {
    requestTimeout: 0, // streams and uploads
    headersTimeout: 20_000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: MOST_HEAD_BYTES,
  };
  return createServer(limits, handle).on('clientError', (error, socket) => refuse(error, socket as Socket));
}

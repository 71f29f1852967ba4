import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node's reader of requests on a connection, as far as it has to be let go of: it is not in Node's types. */
interface Parser {
  /** Off the list of those whose requests are timed. */
  remove(): void;
  close(): void;
}

const ignored = (): void => undefined;

/**
 * Sends the head of an answer that lasts for hours and hands its bare socket over, to which nothing of Node's server, Koa or
 * the request clings any more. The body has no length: it ends with the connection, which whoever takes it closes. A client
 * that is gone, or asked while another answer was being sent on the connection, gets an empty one.
 */
export function handOver(response: ServerResponse, to: (socket: Socket) => void): void {
  const { socket } = response;
  response.removeHeader('Transfer-Encoding');
  response.setHeader('Connection', 'close');
  if (!socket || socket.destroyed) {
    response.end();
    return;
  }
  response.flushHeaders();
  response.detachSocket(socket);
  socket.removeAllListeners();
  socket.on('data', ignored); // Node's server lets go of a socket that another reads; what a client still sends is for nobody
  socket.on('error', ignored); // `close` follows
  socket.on('end', () => socket.destroy());
  freeParser(socket as Socket & { parser?: Parser | null });
  to(socket);
}

/** As Node does for a connection that leaves HTTP (an upgrade); once what runs in the parser has returned. */
function freeParser(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket;
  socket.parser = null;
  if (!parser) return;
  parser.remove();
  setImmediate(() => parser.close());
}

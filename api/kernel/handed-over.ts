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
 * Sends the head of an answer that lasts for hours and gives its bare socket, to which nothing of Node's server, Koa or the
 * request clings any more. The body has no length: it ends with the connection, which is closed by whoever takes it.
 * Undefined when the client is gone or asked while another answer was being sent on the connection.
 */
export function handOver(response: ServerResponse): Socket | undefined {
  const { socket } = response;
  response.removeHeader('Transfer-Encoding');
  response.setHeader('Connection', 'close');
  if (!socket || socket.destroyed) {
    response.end();
    return undefined;
  }
  response.flushHeaders();
  response.detachSocket(socket);
  socket.removeAllListeners();
  socket.on('data', ignored); // Node's server lets go of a socket that another reads; what a client still sends is for nobody
  socket.on('error', ignored); // `close` follows
  socket.on('end', () => socket.destroy());
  freeParser(socket as Socket & { parser?: Parser | null });
  return socket;
}

/** As Node does for a connection that leaves HTTP (an upgrade); once what runs in the parser has returned. */
function freeParser(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket;
  socket.parser = null;
  if (!parser) return;
  parser.remove();
  setImmediate(() => parser.close());
}

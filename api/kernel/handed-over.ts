import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The HTTP parser of a connection in Node, which has no public types: the members used here to release it. */
interface Parser {
  /** Removes it from the list of connections with a request timeout. */
  remove(): void;
  close(): void;
}

const ignored = (): void => undefined;

/**
 * Sends the head of a response that lasts for hours and hands over its bare socket, without references to the server of Node,
 * Koa or the request. The body has no length and ends with the connection, which the receiver closes. A client
 * that disconnected, or that pipelines requests on the connection, gets an empty response.
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
  socket.on('data', ignored); // the server of Node releases a socket with another reader; further data of the client is ignored
  socket.on('error', ignored); // `close` follows an error
  socket.on('end', () => socket.destroy());
  freeParser(socket as Socket & { parser?: Parser | null });
  to(socket);
}

/** Frees the parser like Node does for an upgraded connection, after its current callback has returned. */
function freeParser(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket;
  socket.parser = null;
  if (!parser) return;
  parser.remove();
  setImmediate(() => parser.close());
}

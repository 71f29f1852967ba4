// A catalogue on a socket: answers by its routes, unless a fault is put in, and keeps every request.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { atEnd } from '../stores.ts';

export interface Requested {
  method: string;
  path: string;
  query: URLSearchParams;
  /** The query as it was written. */
  search: string;
  headers: IncomingHttpHeaders;
  body: string;
  atMs: number;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** JSON unless it is text or bytes. */
  body?: unknown;
}

/** The answer of a protocol; undefined is 404. */
export type Protocol = (request: Requested) => Reply | undefined;

/** Instead of an answer; it may write to the response by itself. */
export type Fault = (request: Requested, response: ServerResponse) => Reply | undefined | 'written';

export class Catalogue {
  readonly got: Requested[] = [];
  url = '';
  /** Put in by a test; undefined answers as usual. */
  fault: Fault | undefined;
  /** The text of an answer for a miss, as the protocol writes it. */
  readonly #missing: Reply;
  readonly #protocol: Protocol;

  private constructor(protocol: Protocol, missing: Reply) {
    this.#protocol = protocol;
    this.#missing = missing;
  }

  static async start(protocol: Protocol, missing: Reply = { status: 404, body: {} }): Promise<Catalogue> {
    const catalogue = new Catalogue(protocol, missing);
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const url = new URL(request.url ?? '', 'http://catalogue.test');
        const { method = '', headers } = request;
        const body = Buffer.concat(chunks).toString();
        const search = (request.url ?? '').split('?')[1] ?? '';
        const got = { method, path: url.pathname, query: url.searchParams, search, headers, body, atMs: Date.now() };
        catalogue.got.push(got);
        catalogue.#answer(got, response);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    catalogue.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    return catalogue;
  }

  #answer(request: Requested, response: ServerResponse): void {
    const faulty = this.fault?.(request, response);
    if (faulty === 'written') return;
    const { status = 200, headers = {}, body = {} } = faulty ?? this.#protocol(request) ?? this.#missing;
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(text);
  }

  /** Requests whose path begins so. */
  at(path: string): Requested[] {
    return this.got.filter((one) => one.path.startsWith(path));
  }

  /** Requests that differ in nothing but their time, each with how often it came. */
  repeated(): string[] {
    const counts = new Map<string, number>();
    for (const { method, path, query, body } of this.got) {
      const pairs = [...query].map((pair) => pair.join('=')).sort((a, b) => (a < b ? -1 : 1));
      const name = `${method} ${path}?${pairs.join('&')} ${body}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].flatMap(([name, count]) => (count > 1 ? [name] : []));
  }
}

/** Faults of catalogues and of proxies in front of them. */
export const faults = {
  tooMany:
    (afterSec?: number): Fault =>
    () => ({
      status: 429,
      ...(afterSec !== undefined && { headers: { 'retry-after': String(afterSec) } }),
    }),
  overloaded:
    (afterSec?: number): Fault =>
    () => ({
      status: 503,
      ...(afterSec !== undefined && { headers: { 'retry-after': String(afterSec) } }),
    }),
  html: (): Fault => () => ({
    headers: { 'content-type': 'text/html' },
    body: '<!doctype html><title>Sign in to the network</title>',
  }),
  elsewhere:
    (to: string): Fault =>
    (request) => ({
      status: 307,
      headers: { location: `${to}${request.path}?${String(request.query)}` },
    }),
  cut: (): Fault => (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"results": [');
    setTimeout(() => response.destroy(), 20);
    return 'written';
  },
  endless: (): Fault => (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    response.on('error', () => undefined);
    more();
    return 'written';
  },
  refused: (): Fault => () => ({ status: 401, body: { status_code: 7, status_message: 'Invalid API key' } }),
};

// Stands between an operator and the API server, and breaks the traffic in every way in which a watch or a request
// dies.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '#support/stores.ts';

/** The effect of a fault while it lasts. For watches: open ones, and those requested meanwhile. */
export const FAULTS = ['gone', 'error', 'cut', 'half', 'silent', 'calm', 'broken', 'slow', 'unreachable'] as const;
export type Fault = (typeof FAULTS)[number];

interface Config {
  clusters: { cluster: { server: string; 'certificate-authority-data'?: string } }[];
  users: { user: Record<string, string> }[];
}

const status = (code: number, reason: string): object => ({ kind: 'Status', apiVersion: 'v1', code, reason });
/** As an API server sends it in the middle of a watch. */
const event = (code: number, reason: string): string =>
  `${JSON.stringify({ type: 'ERROR', object: status(code, reason) })}\n`;
const SLOW_MS = 3000;

export class FaultyApi {
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #target: URL;
  readonly #watches = new Set<ServerResponse>();
  readonly #sockets = new Set<Socket>();
  /** Answers that were ordered to send nothing more. */
  readonly #mute = new WeakSet<ServerResponse>();
  #fault: Fault | undefined;
  /** How often each had an effect. */
  readonly bitten = new Map<Fault, number>();

  private constructor(kubeconfig: string) {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Config;
    const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
    if (!cluster || !user) throw new Error(`${kubeconfig} names no cluster and user`);
    const bytes = (text: string | undefined) => (text ? Buffer.from(text, 'base64') : undefined);
    const tls = { cert: bytes(user['client-certificate-data']), key: bytes(user['client-key-data']) };
    this.#agent = new Agent({ keepAlive: true, ca: bytes(cluster['certificate-authority-data']), ...tls });
    this.#target = new URL(cluster.server);
    this.#server = createServer((incoming, answer) => this.#take(incoming, answer));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(kubeconfig: string): Promise<FaultyApi> {
    const api = new FaultyApi(kubeconfig);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  /** For the operator: the administrator's, through here. */
  kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const file = join(temporaryFolder('faulty'), 'kubeconfig');
    const at = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
    const cluster = { name: 'faulty', cluster: at };
    const context = { name: 'faulty', context: { cluster: 'faulty', user: 'nobody' } };
    const users = [{ name: 'nobody', user: {} }];
    const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], contexts: [context], users };
    writeFileSync(file, stringify({ ...config, 'current-context': 'faulty' }), { mode: 0o600 });
    return file;
  }

  /** From now on; undefined ends it. Connections that it made silent are closed then, as a network does once it is whole. */
  set fault(fault: Fault | undefined) {
    const before = this.#fault;
    this.#fault = fault;
    if (before === 'silent') for (const watch of this.#watches) if (this.#mute.has(watch)) watch.destroy();
    if (!fault) return;
    if (fault === 'unreachable') for (const socket of this.#sockets) this.#bite(fault, () => socket.destroy());
    else for (const watch of [...this.#watches]) this.#breakWatch(watch, fault);
  }

  close(): void {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #bite(fault: Fault, how: () => void): void {
    this.bitten.set(fault, (this.bitten.get(fault) ?? 0) + 1);
    how();
  }

  #breakWatch(watch: ServerResponse, fault: Fault): void {
    const ways: Partial<Record<Fault, () => void>> = {
      gone: () => watch.end(event(410, 'Expired')),
      error: () => watch.end(event(500, 'InternalError')),
      cut: () => watch.end(),
      half: () => watch.write('{"type":"MODIFIED","object":{"metad', () => watch.destroy()),
      silent: () => this.#mute.add(watch),
    };
    const way = ways[fault];
    if (way) this.#bite(fault, way);
  }

  #take(incoming: IncomingMessage, answer: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', this.#target);
    const watches = url.searchParams.has('watch');
    const refuse = (code: number, reason: string, headers = {}): void => {
      incoming.resume();
      answer.writeHead(code, { 'content-type': 'application/json', ...headers });
      answer.end(JSON.stringify(status(code, reason)));
    };
    const ways: Partial<Record<Fault, () => void>> = {
      unreachable: () => incoming.socket.destroy(),
      calm: () => refuse(429, 'TooManyRequests', { 'retry-after': '1' }),
      broken: () => refuse(503, 'ServiceUnavailable'),
      slow: () => setTimeout(() => this.#pass(incoming, answer, url), SLOW_MS),
      ...(watches && { gone: () => refuse(410, 'Expired') }),
    };
    const way = this.#fault && ways[this.#fault];
    if (this.#fault && way) this.#bite(this.#fault, way);
    else this.#pass(incoming, answer, url);
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse, url: URL): void {
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const sent = request(url, { method: incoming.method, headers, agent: this.#agent }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      answer.flushHeaders();
      got.on('data', (part: Buffer) => {
        if (!this.#mute.has(answer)) answer.write(part);
      });
      got.on('end', () => answer.end());
      got.on('error', () => answer.destroy());
    });
    sent.on('error', () => answer.destroy());
    answer.on('close', () => {
      this.#watches.delete(answer);
      sent.destroy();
    });
    if (url.searchParams.has('watch')) this.#watches.add(answer);
    incoming.pipe(sent);
  }
}

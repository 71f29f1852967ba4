// The side of the API server that a watch sees, over a real socket, with the faults of the outside world at hand.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '#operator/runtime/kube.ts';

interface Refused {
  status: number;
  headers?: Record<string, string>;
  body?: object;
}

const RESOURCES = [
  { name: 'configmaps', kind: 'ConfigMap', namespaced: true },
  { name: 'configmaps/status', kind: 'ConfigMap', namespaced: true },
];
const COLLECTION = '/api/v1/configmaps';

export class FakeApiServer {
  readonly #server: Server;
  readonly #dir = mkdtempSync(join(tmpdir(), 'foyer-fake-'));
  readonly #objects = new Map<string, KubeObject>();
  readonly #history: { version: number; type: string; object: KubeObject }[] = [];
  readonly #watchers = new Set<ServerResponse>();
  readonly #refused: Refused[] = [];
  #version = 100;
  /** Requests as `GET list`, `GET watch 103`, `PUT /path`. */
  readonly requests: { at: number; what: string; query: URLSearchParams }[] = [];
  readonly connections = new Set<Socket>();
  served = true;
  /** So many requests find the connection closed. */
  hangUps = 0;
  token: string | undefined;
  /** Every so-manieth request is answered 429, to come again after a second. */
  calmEach: number | undefined;
  /** Writes are answered after this. */
  slow: Promise<void> = Promise.resolve();

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on('connection', (socket) => this.connections.add(socket));
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    writeFileSync(this.tokenFile, 'first');
    return this;
  }

  async stop(): Promise<void> {
    await this.leave();
    rmSync(this.#dir, { recursive: true });
  }

  /** Nothing answers there any more. */
  async leave(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get tokenFile(): string {
    return join(this.#dir, 'token');
  }

  kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const server = `http://127.0.0.1:${port}`;
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile: this.tokenFile } } };
    const path = join(this.#dir, 'kubeconfig');
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'default' } }],
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  count(what: RegExp): number {
    return this.requests.filter((one) => what.test(one.what)).length;
  }

  /** The next requests for the collection get these answers. */
  refuse(...answers: Refused[]): void {
    this.#refused.push(...answers);
  }

  set(name: string, data: Record<string, string>, { notify = true, annotations = {} } = {}): void {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const managedFields = [{ manager: 'x' }];
    const metadata = { name, namespace: 'default', uid: name, resourceVersion, annotations, managedFields };
    const type = this.#objects.has(name) ? 'MODIFIED' : 'ADDED';
    this.#record(type, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, notify);
  }

  delete(name: string, notify = true): void {
    const object = this.#objects.get(name);
    if (!object) throw new Error(`no ${name}`);
    this.#version += 1;
    this.#record(
      'DELETED',
      { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } },
      notify,
    );
    this.#objects.delete(name);
  }

  /** To every watch. */
  send(text: string): void {
    for (const watcher of this.#watchers) watcher.write(text);
  }

  /** As the API server sends about once a minute for every kind that has a watch cache. */
  sendBookmark(): void {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: String(this.#version) } };
    this.send(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  sendError(code: number, reason: string): void {
    const object = { kind: 'Status', status: 'Failure', code, reason, message: reason };
    this.send(`${JSON.stringify({ type: 'ERROR', object })}\n`);
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  endWatches(): void {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
  }

  cutWatches(): void {
    for (const watcher of this.#watchers) watcher.destroy();
    this.#watchers.clear();
  }

  /** The connections stay, and nothing comes any more: as when a machine in between forgets them. */
  forgetWatches(): void {
    this.#watchers.clear();
  }

  #record(type: string, object: KubeObject, notify: boolean): void {
    this.#objects.set(object.metadata.name, object);
    this.#history.push({ version: this.#version, type, object });
    if (notify) this.send(`${JSON.stringify({ type, object })}\n`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://localhost');
    const query = url.searchParams;
    const what =
      url.pathname === COLLECTION
        ? query.has('watch')
          ? `watch ${query.get('resourceVersion')}`
          : 'list'
        : url.pathname;
    this.requests.push({ at: performance.now(), what: `${request.method} ${what}`, query });
    request.resume();
    if (this.hangUps > 0) {
      this.hangUps -= 1;
      request.socket.resetAndDestroy();
      return;
    }
    const known = !this.token || request.headers.authorization === `Bearer ${this.token}`;
    if (this.calmEach && this.requests.length % this.calmEach === 0)
      refusal(response, { status: 429, headers: { 'Retry-After': '1' } });
    else if (!known) refusal(response, { status: 401 });
    else if (url.pathname === '/api/v1') send(response, { resources: this.served ? RESOURCES : [] });
    else if (url.pathname === COLLECTION) this.#collection(query, response);
    else void this.slow.then(() => send(response, { kind: 'ConfigMap', metadata: { name: 'x' } }));
  }

  #collection(query: URLSearchParams, response: ServerResponse): void {
    const refused = this.served ? this.#refused.shift() : { status: 404 };
    const items = [...this.#objects.values()].map(({ metadata, data }) => ({ metadata, data }));
    if (refused) refusal(response, refused);
    else if (query.has('watch')) this.#watch(Number(query.get('resourceVersion')), response);
    else send(response, { metadata: { resourceVersion: String(this.#version) }, items });
  }

  #watch(from: number, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    for (const { version, type, object } of this.#history)
      if (version > from) response.write(`${JSON.stringify({ type, object })}\n`);
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }
}

function refusal(response: ServerResponse, { status, headers, body }: Refused): void {
  response.writeHead(status, headers).end(JSON.stringify(body ?? { kind: 'Status', code: status, message: 'refused' }));
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

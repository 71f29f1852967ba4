// The objects of a cluster behind the protocol of an API server: discovery, reads, server-side apply of one manager,
// deletions with preconditions. Its past states are kept, so that an operator can be shown an older one.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { MemoryKube } from '../media-server/support.ts';

const GROUPS: Record<string, string[]> = {
  v1: ['ConfigMap', 'Event', 'PersistentVolumeClaim', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'apps/v1': ['Deployment', 'StatefulSet'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'batch/v1': ['Job'],
  'foyer.media/v1alpha1': ['MediaServer', 'Library', 'TunerDevice'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
};
export const KINDS = Object.values(GROUPS).flat();

const plural = (kind: string): string => `${kind.toLowerCase()}s`.replace(/ys$/, 'ies').replace(/sss$/, 'sses');
const kindOf = new Map(KINDS.map((kind) => [plural(kind), kind]));

export interface Change {
  version: number;
  gone: boolean;
  object: KubeObject;
}

export class StoreServer extends MemoryKube {
  readonly history: Change[] = [];
  readonly #server: Server;
  readonly #dir = mkdtempSync(join(tmpdir(), 'foyer-store-'));
  #version = 100;
  #made = 0;
  /** Called before a request deletes an object, and before an existing object is written. */
  deleting: (object: KubeObject) => Promise<void> = async () => undefined;
  writing: (before: KubeObject, next: KubeObject) => void = () => undefined;

  constructor() {
    super([]);
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ([status, body]) => send(response, status, body),
        (error: unknown) => send(response, 500, { kind: 'Status', code: 500, message: String(error) }),
      );
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#dir, { recursive: true });
  }

  kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const server = `http://127.0.0.1:${port}`;
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'media' } }],
    };
    const path = join(this.#dir, 'kubeconfig');
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  get version(): number {
    return this.#version;
  }

  /** As the kind stood at that version. */
  at(kind: string, version: number): KubeObject[] {
    const there = new Map<string, KubeObject>();
    for (const { version: its, gone, object } of this.history) {
      if (its > version || object.kind !== kind) continue;
      if (gone) there.delete(object.metadata.name);
      else there.set(object.metadata.name, object);
    }
    return [...there.values()];
  }

  override put(...objects: KubeObject[]): this {
    for (const object of objects) {
      const { kind, metadata } = object;
      const before = this.get(kind, metadata.namespace ?? '', metadata.name);
      if (before && textOf(before) === textOf(object)) continue;
      const fresh = before?.metadata.uid ?? metadata.uid ?? `uid-${++this.#made}`;
      const own = { uid: fresh, resourceVersion: String(++this.#version) };
      super.put({ ...object, metadata: { ...metadata, ...own } });
      const stored = this.get(kind, metadata.namespace ?? '', metadata.name) as KubeObject;
      this.history.push({ version: this.#version, gone: false, object: stored });
    }
    return this;
  }

  override drop(kind: string, name: string): void {
    const object = this.get(kind, 'media', name);
    if (!object) return;
    super.drop(kind, name);
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.history.push({ version: this.#version, gone: true, object: { ...object, metadata } });
  }

  /** As the garbage collector does: objects whose owner is gone. */
  collect(): void {
    const uids = new Set([...this.objects.values()].map(({ metadata }) => metadata.uid));
    for (const { kind, metadata } of [...this.objects.values()])
      if (metadata.ownerReferences?.some(({ uid }) => !uids.has(uid))) this.drop(kind, metadata.name);
  }

  async #answer(request: IncomingMessage): Promise<[number, object]> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const body = (await text(request)) || '{}';
    const [, apiVersion, rest = ''] =
      /^\/apis?\/((?:[a-z0-9.]+\/)?v\w+)(?:\/namespaces\/media\/(.*))?$/.exec(pathname) ?? [];
    const kinds = GROUPS[apiVersion ?? ''];
    if (!kinds) return refused(404);
    if (!rest) return [200, { resources: kinds.map((kind) => ({ name: plural(kind), kind, namespaced: true })) }];
    const [resource = '', name = '', part] = rest.split('/');
    const kind = kindOf.get(resource);
    if (!kind) return refused(404);
    if (kind === 'Event')
      return name === '' && request.method === 'GET' ? [200, { metadata: {}, items: [] }] : [201, {}];
    if (name === '') return [200, this.#listed(kind, searchParams.get('labelSelector') ?? '')];
    const live = this.get(kind, 'media', name);
    if (request.method === 'PATCH') return this.#patch(live, JSON.parse(body) as KubeObject, part);
    if (!live) return refused(404);
    return request.method === 'DELETE' ? this.#delete(live, JSON.parse(body) as Options) : [200, live];
  }

  #listed(kind: string, selector: string): object {
    const labels = Object.fromEntries(selector.split(',').map((one) => one.split('=') as [string, string]));
    return { metadata: { resourceVersion: String(this.#version) }, items: this.list(kind, 'media', labels) };
  }

  #patch(live: KubeObject | undefined, body: KubeObject, part: string | undefined): [number, object] {
    if (part === 'status') {
      if (!live || (body.metadata.uid && live.metadata.uid !== body.metadata.uid)) return refused(404);
      this.put({ ...live, status: body.status });
      return this.#now(live);
    }
    if (live) this.writing(live, body);
    const isChanged = JSON.stringify(live?.spec) !== JSON.stringify(body.spec);
    if (live?.kind === 'Job' && isChanged) return refused(422);
    const generation = (live?.metadata.generation ?? 0) + (isChanged ? 1 : 0);
    const made = live?.metadata.creationTimestamp ?? new Date().toISOString();
    const status = live?.status;
    const metadata = { ...body.metadata, generation, creationTimestamp: made };
    this.put({ ...body, metadata, ...(status !== undefined && { status }) });
    return this.#now(body);
  }

  #now({ kind, metadata }: KubeObject): [number, object] {
    return [200, this.get(kind, 'media', metadata.name) as KubeObject];
  }

  async #delete(
    live: KubeObject,
    { preconditions: { uid, resourceVersion } = {} }: Options,
  ): Promise<[number, object]> {
    if (uid !== live.metadata.uid || resourceVersion !== live.metadata.resourceVersion) return refused(409);
    await this.deleting(live);
    this.drop(live.kind, live.metadata.name);
    return [200, {}];
  }
}

interface Options {
  preconditions?: { uid?: string; resourceVersion?: string };
}

const refused = (code: number): [number, object] => [code, { kind: 'Status', code, message: 'refused' }];

/** The stored objects, without the fields that each write changes. */
function textOf({ metadata: { uid: _uid, resourceVersion: _version, ...metadata }, ...rest }: KubeObject): string {
  return JSON.stringify([metadata, rest], (_key, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

// Server-side apply of a Deployment whose number of pods goes to an autoscaler, against a server that knows owners of that field.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Applier } from '#operator/runtime/apply.ts';
import { Cache } from '#operator/runtime/cache.ts';
import type { Caches } from '#operator/runtime/caches.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Rest } from '#operator/runtime/rest.ts';

const PATH = '/apis/apps/v1/namespaces/media/deployments/home-api';
const owner: KubeObject = {
  apiVersion: 'foyer.media/v1alpha1',
  kind: 'MediaServer',
  metadata: { name: 'home', namespace: 'media', uid: 'u' },
};
const deployment = (spec: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'home-api', namespace: 'media' },
  spec,
});

/** The API server, as far as spec.replicas goes: its manager, and its default once it has none. */
class Replicas {
  replicas = 1;
  readonly seen: number[] = [];
  readonly holders = new Set<string>();
  #version = 1;
  #annotations: object = {};

  answer(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      const body = Buffer.concat(parts).toString();
      if (request.method === 'PATCH')
        this.#apply(JSON.parse(body) as KubeObject, searchParams.get('fieldManager') ?? '');
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(this.object()));
    });
  }

  #apply({ metadata, spec }: KubeObject, manager: string): void {
    const { replicas } = spec as { replicas?: number };
    if (replicas !== undefined) this.holders.add(manager);
    else if (this.holders.delete(manager) && this.holders.size === 0) this.replicas = 1;
    this.replicas = replicas ?? this.replicas;
    this.#annotations = metadata.annotations ?? this.#annotations;
    this.#version += 1;
    this.seen.push(this.replicas);
  }

  object(): KubeObject {
    const managedFields = [...this.holders].map((manager) => ({
      manager,
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    }));
    const version = { resourceVersion: String(this.#version), annotations: this.#annotations, managedFields };
    const labels = { 'app.kubernetes.io/managed-by': 'foyer-operator', 'foyer.media/owner': 'u' };
    const { metadata, ...rest } = deployment({ replicas: this.replicas });
    return { ...rest, metadata: { ...metadata, labels, uid: 'd', ...version } } as unknown as KubeObject;
  }
}

describe('a number of pods that becomes an autoscaler’s', () => {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-apply-'));
  const state = new Replicas();
  const server = createServer((request, response) => state.answer(request, response));
  let rest: Rest;
  let apply: (spec: object) => Promise<unknown>;

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const path = join(dir, 'kubeconfig');
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    writeFileSync(path, JSON.stringify(config));
    const metrics = newMetrics();
    rest = new Rest({ credentials: new Credentials(path), metrics });
    const cache = new Cache(() => undefined);
    const caches = { of: () => cache, pathOf: async () => PATH, kinds: () => ['Deployment'] } as unknown as Caches;
    const applier = new Applier({ rest, caches, metrics, drifted: () => undefined });
    apply = (spec) => applier.apply(owner, [deployment(spec)]);
  });

  after(() => {
    rest.close();
    server.close();
    rmSync(dir, { recursive: true });
  });

  it('keeps its value, and is not the operator’s any more', async () => {
    await apply({ replicas: 5 });
    await apply({ minReadySeconds: 1 });
    expect(state.seen).to.deep.equal([5, 5, 5]);
    expect([...state.holders]).to.not.include('foyer');
  });

  it('is left alone from then on', async () => {
    state.holders.clear();
    state.holders.add('kube-controller-manager');
    state.replicas = 7;
    await apply({ minReadySeconds: 2 });
    expect(state.replicas).to.equal(7);
    expect([...state.holders]).to.deep.equal(['kube-controller-manager']);
  });

  it('is the operator’s again once the resource declares it', async () => {
    await apply({ replicas: 2 });
    expect(state.replicas).to.equal(2);
    expect([...state.holders]).to.include('foyer');
  });
});

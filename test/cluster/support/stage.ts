// A real operator process over namespaces of a control plane, with all its peers: one real API for every server, the
// reports of the pods of servers and tuners, and a node that reports pods as running.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mediaRoots } from '#operator/media-server/desired/media.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import { GROUP_VERSION, type KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { type Call, MERGE_PATCH, Rest } from '#operator/runtime/rest.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { temporaryFolder } from '#support/stores.ts';
import { type Cluster, controlPlane } from './cluster.ts';
import { cordoned } from './cordon.ts';
import { HollowNode } from './hollow-node.ts';
import { type Addresses, accountFor, OperatorProcess, type Started } from './operator-process.ts';
import { library, mediaServer, type Resource, tunerDevice } from './specs.ts';
import { until } from './until.ts';

/** Of the key ring that every server on the stage is given, so that one API has the storages of all. */
export const SERVER_ID = '01900000-0000-7000-8000-00000000000a';
const MEDIA = ['films', 'recordings'];

export const claimOf = (name: string, namespace: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'hollow', resources: { requests: { storage: '1Gi' } } },
});

/** As the operator would have made it. */
const madeSecret = (name: string, namespace: string, stringData: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { 'app.kubernetes.io/managed-by': 'foyer-operator' } },
  stringData,
});

/** Its stores have volumes of the hollow class; its media are two claims of the namespace. */
export const serverOnStage = (name: string, spec: object = {}): Resource =>
  mediaServer(name, {
    postgres: { managed: { storage: '1Gi', storageClassName: 'hollow' } },
    objects: { managed: { storage: '1Gi', storageClassName: 'hollow' } },
    media: MEDIA.map((media) => ({
      name: media,
      persistentVolumeClaim: { claimName: media },
      ...(media === 'recordings' && { readOnly: false }),
    })),
    ...spec,
  });

export const libraryOnStage = (name: string, server: string, spec: object = {}): Resource =>
  library(name, { serverRef: { name: server }, ...spec });

export const tunerOnStage = (name: string, server: string, spec: object = {}): Resource =>
  tunerDevice(name, { serverRef: { name: server }, ...spec });

interface RunningPod {
  metadata: { name: string; deletionTimestamp?: string };
  status?: { phase?: string };
}

export class Stage {
  readonly cluster: Cluster;
  readonly api: Api;
  readonly rest: Rest;
  /** Sessions that wait for a worker, as the /metrics of every server report. */
  waiting = 0;
  /** The answer of the pod of every tuner. */
  tuner: Record<string, unknown> = { reachable: true, message: '', recording: false, channels: 30 };
  readonly hollow: HollowNode;
  readonly #pods: Server;
  readonly #media = new Map<string, string>();
  readonly #namespaces: string[] = [];
  readonly #operators: OperatorProcess[] = [];
  /** Pods of the stage are for the hollow node alone. */
  #uncordon: () => Promise<void> = async () => undefined;

  private constructor(cluster: Cluster, api: Api) {
    this.cluster = cluster;
    this.api = api;
    this.rest = new Rest({ credentials: new Credentials(cluster.kubeconfig), metrics: newMetrics() });
    this.hollow = new HollowNode(cluster.kubeconfig, '');
    this.#pods = createServer(({ url = '' }, response) => {
      const [, what, namespace = '', name = ''] = url.split('/');
      if (what !== 'metrics') return void response.end(JSON.stringify(this.tuner));
      this.#metricsOf(namespace, name).then(
        (text) => response.end(text),
        () => response.writeHead(503).end(),
      );
    });
  }

  static async open(): Promise<Stage> {
    const cluster = await controlPlane();
    await cluster.kubectl.installKinds();
    const roots = mediaRoots(MediaServerSpec.parse(serverOnStage('any').spec), SERVER_ID);
    const paths = roots.map((root) => ({ ...root, path: temporaryFolder(root.name) }));
    const stage = new Stage(cluster, await startApi({ FOYER_MEDIA_ROOTS: JSON.stringify(paths) }));
    // A TunerDevice waits for a library of its type.
    const television = { id: newId(), name: 'Television', name_folded: 'television', type: 'livetv' };
    await stage.api.deps.db('libraries').insert(television);
    for (const { name, path } of paths) stage.#media.set(name, path);
    stage.#pods.listen(0, '127.0.0.1');
    await once(stage.#pods, 'listening');
    stage.#uncordon = await cordoned(cluster.kubectl);
    stage.hollow.start();
    return stage;
  }

  /** A namespace with claims, and the Secrets that an earlier life of each of the servers left. */
  async namespace(prefix: string, servers: readonly string[]): Promise<string> {
    const { kubectl } = this.cluster;
    const namespace = await kubectl.namespace(prefix);
    this.#namespaces.push(namespace);
    const claims = MEDIA.map((name) => claimOf(name, namespace));
    const secrets = servers.flatMap((server) => [
      madeSecret(`${server}-keys`, namespace, { 'keys.json': JSON.stringify({ serverId: SERVER_ID }) }),
      madeSecret(`${server}-operator-key`, namespace, { key: this.api.operatorKey }),
    ]);
    await kubectl.apply(...claims, ...secrets, ...accountFor(namespace));
    return namespace;
  }

  /** An empty folder of a media entry, as libraries need it. */
  folder(media: string, path: string): void {
    mkdirSync(join(this.#media.get(media) ?? '', path), { recursive: true });
  }

  /** Patterns, as the operator takes them. */
  get addresses(): Addresses {
    const { port } = this.#pods.address() as AddressInfo;
    const pods = `http://127.0.0.1:${port}`;
    return { api: this.api.url, metrics: `${pods}/metrics/{namespace}/{name}`, tuner: `${pods}/tuner` };
  }

  async operator(namespace: string, how: Started = {}): Promise<OperatorProcess> {
    const operator = await OperatorProcess.start(this.cluster, namespace, { addresses: this.addresses, ...how });
    this.#operators.push(operator);
    return operator;
  }

  /**
   * The objects of a kind in a namespace, by its place below the namespace's own (`batch/v1 jobs`): for frequent reads.
   */
  async list<T = KubeObject>(of: string, namespace: string): Promise<T[]> {
    return (await this.rest.read<{ items: T[] }>({ method: 'GET', path: pathOf(of, namespace) })).items;
  }

  /** Every resource of ours in it. */
  async resources(namespace: string): Promise<KubeObject[]> {
    const kinds = await Promise.all(OURS.map((of) => this.list(of, namespace)));
    return kinds.flat();
  }

  /** Removes the namespace, whose operators have all ended. */
  async clear(namespace: string): Promise<void> {
    const write = (call: Omit<Call, 'query'>) => this.rest.write(call).catch(() => undefined); // it is gone
    for (const ours of OURS) {
      await write({ method: 'DELETE', path: pathOf(ours, namespace) });
      for (const { metadata } of await this.list(ours, namespace)) {
        const path = `${pathOf(ours, namespace)}/${metadata.name}`;
        await write({ method: 'PATCH', path, body: { metadata: { finalizers: null } }, contentType: MERGE_PATCH });
      }
    }
    const gracePeriodSeconds = 0; // a namespace waits as long as its pods may take to end
    for (const children of ['apps/v1 deployments', 'apps/v1 statefulsets', 'batch/v1 jobs', 'v1 pods'])
      await write({ method: 'DELETE', path: pathOf(children, namespace), body: { gracePeriodSeconds } });
    await write({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  }

  async close(): Promise<void> {
    await Promise.all(this.#operators.map((operator) => operator.kill()));
    for (const namespace of this.#namespaces) await this.clear(namespace);
    for (const namespace of this.#namespaces)
      await until('the end of the namespace', async () => {
        return !(await this.cluster.kubectl.find({ kind: 'namespace', name: namespace }));
      });
    await this.hollow.stop();
    await this.#uncordon();
    this.rest.close();
    this.#pods.closeAllConnections();
    this.#pods.close();
  }

  /** Every transcode worker that runs has reported, and is idle. */
  async #metricsOf(namespace: string, name: string): Promise<string> {
    const labelSelector = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=transcode`;
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { items } = await this.rest.read<{ items: RunningPod[] }>({ method: 'GET', path, query: { labelSelector } });
    const running = items.filter(({ metadata, status }) => status?.phase === 'Running' && !metadata.deletionTimestamp);
    const counts = [`waiting ${this.waiting}`, 'sessions 0', `workers ${running.length}`];
    const gauges = running.flatMap(({ metadata }) => {
      const labels = `{pod="${metadata.name}",encoder="libx264",gpu="false"}`;
      return [`worker_slots${labels} 3`, `worker_sessions${labels} 0`, `worker_idle_seconds${labels} 100000`];
    });
    return [...counts, ...gauges].map((line) => `foyer_transcode_${line}\n`).join('');
  }
}

const OURS = ['mediaservers', 'libraries', 'tunerdevices'].map((plural) => `${GROUP_VERSION} ${plural}`);

function pathOf(of: string, namespace: string): string {
  const [version = '', plural] = of.split(' ');
  return `/${version.includes('/') ? 'apis' : 'api'}/${version}/namespaces/${namespace}/${plural}`;
}

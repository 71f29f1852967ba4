// A cluster in memory: keeps applied objects, prunes as the kit does, and plays the node. For passes of the controller
// without an API server.
import type { Fresh } from '#operator/keys.ts';
import { BucketsOfServers } from '#operator/media-server/buckets.ts';
import { DeclaredOfServers } from '#operator/media-server/declared.ts';
import { Probes } from '#operator/media-server/observe.ts';
import type { MediaServerTools } from '#operator/media-server/reconcile.ts';
import { reconcileMediaServer } from '#operator/media-server/reconcile.ts';
import { SpeechProbes } from '#operator/media-server/speech-probes.ts';
import {
  type Applied,
  FINALIZER,
  KEEP,
  type Kube,
  type KubeObject,
  OWNER,
  type Prune,
  type ReportedEvent,
} from '#operator/runtime/kube.ts';
import type { MediaServerStatus } from '#operator/schemas/media-server.ts';

type Plain = Record<string, unknown>;

/** Every secret value holds this word, so that it is found wherever it should not be. */
export const CANARY = 'canary';

/** Makes other values at each call, so that a Secret made twice is noticed. */
export function countingFresh(): Fresh {
  let count = 0;
  const next = (what: string): string => `${CANARY}-${what}-${++count}`;
  const serverId = '0193f3a0-0000-7000-8000-00000000000a';
  return {
    keyRing: () => ({ signing: [{ kid: next('kid') }], serverId }),
    operatorKey: () => `foyer_${next('key')}`,
    claimCode: () => next('claim'),
    password: () => next('password'),
    resetToken: () => `foypr_${next('token')}`,
  };
}

export const images = {
  foyer: 'foyer:1.0.0',
  postgres: 'foyer-postgres:18',
  redis: 'foyer-redis:7',
  minio: 'foyer-minio:latest',
};

const JOB_NAME = 'batch.kubernetes.io/job-name';

export const START = new Date('2026-01-01T00:00:00Z');
const UID = 'c0ffee00-0000-4000-8000-000000000000';

const idOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** The API server gives the data of a Secret and a ConfigMap back sorted. */
function inOrder(object: KubeObject): KubeObject {
  if (!object.data) return object;
  return { ...object, data: Object.fromEntries(Object.entries(object.data).sort(([a], [b]) => (a < b ? -1 : 1))) };
}

export function mediaServer(spec: Plain, annotations: Record<string, string> = {}): KubeObject {
  const metadata = { name: 'home', namespace: 'media', uid: UID, generation: 1, annotations };
  return { apiVersion: 'foyer.media/v1alpha1', kind: 'MediaServer', metadata, spec };
}

export function secret(name: string, texts: Record<string, string>): KubeObject {
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'media' }, data: Object.fromEntries(data) };
}

export class MemoryKube implements Kube {
  readonly objects = new Map<string, KubeObject>();
  readonly events: ReportedEvent[] = [];
  readonly kinds: ReadonlySet<string>;
  readonly sought = new Set<string>();
  writes = 0;

  constructor(served: readonly string[] = ['Cluster', 'HTTPRoute', 'PrometheusRule', 'ServiceMonitor']) {
    this.kinds = new Set(served);
  }

  put(...objects: KubeObject[]): this {
    for (const object of objects) this.objects.set(idOf(object), copy(object));
    return this;
  }

  drop(kind: string, name: string): void {
    this.objects.delete(`${kind}/media/${name}`);
  }

  get(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.objects.get(`${kind}/${namespace}/${name}`);
  }

  list(kind: string, namespace: string, labels: Record<string, string> = {}): KubeObject[] {
    return [...this.objects.values()].filter(({ kind: its, metadata }) => {
      const fits = Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
      return its === kind && (!namespace || metadata.namespace === namespace) && fits;
    });
  }

  seek(kind: string): void {
    this.sought.add(kind);
  }

  served(kind: string): boolean {
    return this.kinds.has(kind);
  }

  async apply(owner: KubeObject, desired: readonly KubeObject[], how: { prune?: Prune } = {}): Promise<Applied> {
    const { prune = true } = how;
    const written = desired.filter((object) => this.#write(owner, object));
    this.writes += prune ? 0 : written.length;
    if (!prune) return { written, pruned: [] };
    const wanted = new Set(desired.map(idOf));
    const ours = [...this.objects].filter(([, { metadata }]) => metadata.labels?.[OWNER] === owner.metadata.uid);
    const may = ({ metadata }: KubeObject) => prune === true || prune.has(metadata.uid ?? '');
    const pruned = ours.filter(([id, one]) => !wanted.has(id) && !one.metadata.annotations?.[KEEP] && may(one));
    for (const [id] of pruned) this.objects.delete(id);
    this.writes += written.length + pruned.length;
    return { written, pruned: pruned.map(([, object]) => object) };
  }

  #write(owner: KubeObject, object: KubeObject): boolean {
    const labels = { ...object.metadata.labels, [OWNER]: owner.metadata.uid ?? '' };
    const before = this.objects.get(idOf(object));
    const { status, metadata: _metadata, ...live }: Partial<KubeObject> = before ?? {};
    const { metadata, ...wanted } = inOrder(copy({ ...object, metadata: { ...object.metadata, labels } }));
    const { uid, generation = 0, creationTimestamp, ...known } = (before?.metadata ?? {}) as KubeObject['metadata'];
    const same = JSON.stringify(live) === JSON.stringify(wanted);
    if (same && JSON.stringify(known) === JSON.stringify(metadata)) return false;
    if (before?.kind === 'Job' && !same) throw new Error(`the template of Job ${metadata.name} cannot be changed`);
    const own = { uid: uid ?? `uid of ${idOf(object)}`, creationTimestamp: creationTimestamp ?? START.toISOString() };
    const next = { ...wanted, metadata: { ...metadata, ...own, generation: generation + (same ? 0 : 1) } };
    this.put({ ...next, ...(status !== undefined && { status }) });
    return true;
  }

  async applyStatus(object: KubeObject, status: object): Promise<boolean> {
    const live = this.objects.get(idOf(object));
    if (!live || JSON.stringify(live.status) === JSON.stringify(status)) return false;
    this.put({ ...live, status });
    this.writes += 1;
    return true;
  }

  async remove({ kind, namespace, name }: { kind: string; namespace: string; name: string }): Promise<void> {
    this.objects.delete(`${kind}/${namespace}/${name}`);
  }

  async setFinalizer(object: KubeObject, present: boolean): Promise<void> {
    const stored = this.objects.get(idOf(object));
    if (stored) stored.metadata = { ...stored.metadata, finalizers: present ? [FINALIZER] : [] };
  }

  event(_about: KubeObject, event: ReportedEvent): void {
    this.events.push(event);
  }

  /** Every workload is up and every Job but those named is complete. */
  play(at: Date, { failing = [] as string[], stuck = [] as string[] } = {}): void {
    for (const object of [...this.objects.values()]) {
      if (stuck.some((name) => object.metadata.name.includes(name))) continue;
      const { replicas = 2 } = (object.spec ?? {}) as { replicas?: number };
      const counts = { replicas, readyReplicas: replicas, updatedReplicas: replicas };
      const up = { ...counts, observedGeneration: object.metadata.generation };
      const type = failing.some((name) => object.metadata.name.includes(name)) ? 'Failed' : 'Complete';
      const ended = { conditions: [{ type, status: 'True', lastTransitionTime: at.toISOString() }] };
      const runs = object.metadata.name.includes('-transcode-');
      if (object.kind === 'Deployment' || object.kind === 'StatefulSet') this.put({ ...object, status: up });
      if (object.kind === 'Job' && !runs && !object.status) this.put({ ...object, status: ended });
      if (object.kind === 'Job' && runs) this.#runWorker(object);
    }
    for (const pod of this.list('Pod', 'media')) {
      const job = pod.metadata.labels?.[JOB_NAME];
      if (job && !this.get('Job', 'media', job)) this.drop('Pod', pod.metadata.name);
    }
  }

  #runWorker({ metadata: { name, namespace, creationTimestamp }, spec }: KubeObject): void {
    const { template } = spec as { template: { metadata: { labels: Record<string, string> }; spec: object } };
    const labels = { ...template.metadata.labels, [JOB_NAME]: name };
    const made = { creationTimestamp: creationTimestamp ?? START.toISOString() };
    const metadata = { name: `${name}-pod`, namespace: namespace ?? '', labels, ...made };
    this.put({ apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec });
  }

  /** The server's report on running workers. */
  workers(): string {
    const pods = this.list('Pod', 'media').filter(({ metadata }) => metadata.labels?.[JOB_NAME]);
    const lines = pods.map(({ metadata }) => `foyer_transcode_worker_slots{pod="${metadata.name}",encoder="x"} 3`);
    const counts = ['waiting 0', 'sessions 0', `workers ${pods.length}`].map((text) => `foyer_transcode_${text}`);
    return [...counts, ...lines, ''].join('\n');
  }
}

/** The server over HTTP, while a pod of it is up. */
export interface Answers {
  /** State of the last restore. */
  restore?: string;
  /** The store that the server waits for. */
  waitingFor?: string;
  setupComplete: boolean;
  /** 1.0.0 by default. */
  version?: string;
  health: Record<string, string>;
  reachable: boolean;
  /** Of GET /setup/claim. */
  blockedUntil: string | null;
  /** Of GET /plus. */
  plus: Record<string, unknown>;
  /** Of GET /settings: where the value of each key comes from. */
  settings?: Record<string, string>;
}

export class World {
  readonly kube: MemoryKube;
  readonly tools: MediaServerTools;
  now = START;
  /** Storages that the server has. */
  readonly storages: Plain[] = [];
  /** Further lines of the server's /metrics. */
  metrics = '';
  /** The speech worker at an address. */
  querySpeech: MediaServerTools['querySpeech'] = async () => undefined;
  answers: Answers = {
    setupComplete: false,
    health: { database: 'ok', redis: 'ok', objects: 'ok' },
    reachable: true,
    blockedUntil: null,
    plus: { mode: 'open', state: 'open' },
  };

  constructor(server: KubeObject, kube = new MemoryKube()) {
    this.kube = kube.put(server);
    const request = async (method: string, path: string, body?: unknown) => {
      if (!this.answers.reachable) throw new Error('refused');
      const {
        setupComplete,
        version = '1.0.0',
        health,
        plus,
        blockedUntil,
        restore: state,
        waitingFor,
        settings,
      } = this.answers;
      if (waitingFor) return { status: 503, body: { error: { details: { waitingFor } } } };
      const checks = Object.entries(health).map(([name, state]) => ({ name, state }));
      const bodies: Record<string, unknown> = {
        '/server/info': { setupComplete, version },
        '/server/health': { checks },
        '/setup/claim': { blockedUntil },
        '/plus': plus,
        '/settings': settings && { items: Object.entries(settings).map(([key, source]) => ({ key, source })) },
        '/themes': { items: [] },
        '/library-types': { items: [] },
        '/custom-fields': { items: [] },
        '/storages': { items: this.storages },
        '/backups?limit=1': { items: [], ...(state && { restore: { state } }) },
      };
      if (method === 'POST' && path === '/storages')
        this.storages.push({ ...(body as Plain), id: 's', state: 'available' });
      if (path.startsWith('/storages/')) return { status: 200, body: { ok: true, state: 'available' } };
      if (method === 'POST') return { status: 201, body: this.storages.at(-1) };
      return { status: 200, body: bodies[path] };
    };
    this.tools = {
      images,
      clusterNetworks: ['10.244.0.0/16', '10.96.0.0/12'],
      fresh: countingFresh(),
      probes: new Probes(),
      declared: new DeclaredOfServers(0),
      buckets: new BucketsOfServers(0),
      connect: () => ({ request, metrics: async () => this.kube.workers() + this.metrics }),
      speech: new SpeechProbes(),
      querySpeech: (ip) => this.querySpeech(ip),
    };
  }

  get server(): KubeObject {
    return this.kube.get('MediaServer', 'media', 'home') as KubeObject;
  }

  get status(): MediaServerStatus {
    return (this.server.status ?? {}) as MediaServerStatus;
  }

  condition(type: string): string {
    const found = this.status.conditions?.find((condition) => condition.type === type);
    return found ? `${found.status} ${found.reason}` : 'absent';
  }

  message(type: string): string {
    return this.status.conditions?.find((condition) => condition.type === type)?.message ?? '';
  }

  /** A change of the spec, as `kubectl apply` makes it. */
  change(spec: Plain): void {
    const { metadata } = this.server;
    const next = { ...(this.server.spec as Plain), ...spec };
    this.kube.put({
      ...this.server,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: next,
    });
  }

  annotate(annotations: Record<string, string>): void {
    this.kube.put({ ...this.server, metadata: { ...this.server.metadata, annotations } });
  }

  later(ms: number): void {
    this.now = new Date(this.now.getTime() + ms);
  }

  /** A second after the last one. */
  async pass(): Promise<number> {
    this.later(1000);
    const before = this.kube.writes;
    await reconcileMediaServer({ namespace: 'media', name: 'home' }, this.kube, { now: this.now, tools: this.tools });
    return this.kube.writes - before;
  }

  /** Passes with a node that does its part, until nothing is written. */
  async settle(options?: Parameters<MemoryKube['play']>[1]): Promise<void> {
    for (let count = 0; count < 20; count++) {
      const written = await this.pass();
      this.kube.play(this.now, options);
      if (written === 0 && (await this.pass()) === 0) return;
    }
    throw new Error('it never comes to rest');
  }

  names(kind: string): string[] {
    return this.kube
      .list(kind, 'media')
      .map(({ metadata }) => metadata.name)
      .sort();
  }
}

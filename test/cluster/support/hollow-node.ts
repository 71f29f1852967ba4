// A node without a kubelet: pods that the scheduler gives it are reported as running, those of Jobs as ended; claims
// get a volume. For tests of the objects that the control plane derives from ours, where no container is needed. Claims
// must name the class "hollow", which no provisioner knows.
import { setTimeout as sleep } from 'node:timers/promises';
import { Credentials } from '#operator/runtime/credentials.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { MERGE_PATCH, Rest } from '#operator/runtime/rest.ts';

/** The class of its claims. */
const CLASS = 'hollow';
const EVERY_MS = 200;
/** So often all pods are looked at, for those that are to end, and claims. Else only pods that wait: the API server has other things to do. */
const SWEEP_MS = 1000;
const BEAT_MS = 5000;

interface Pod extends KubeObject {
  spec: { nodeName?: string; containers: { name: string; image: string }[] };
  status?: { phase?: string };
}

interface List<T> {
  items: T[];
}

export class HollowNode {
  readonly #rest: Rest;
  readonly #namespace: string;
  readonly #name: string;
  readonly #leaving = new AbortController();
  #running: Promise<void> | undefined;
  readonly #made = new Set<string>();
  #beatAt = 0;
  #sweptAt = 0;
  /** Names of pods that do not come up. */
  stuck = /^$/;

  /** An empty namespace is all of them. */
  constructor(kubeconfig: string, namespace: string, name = 'hollow') {
    this.#name = name;
    this.#rest = new Rest({ credentials: new Credentials(kubeconfig), metrics: newMetrics() });
    this.#namespace = namespace;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** After its namespace, which it must help to end. */
  async stop(): Promise<void> {
    this.#leaving.abort();
    await this.#running;
    for (const name of this.#made)
      await this.#rest.write({ method: 'DELETE', path: `/api/v1/persistentvolumes/${name}` }).catch(() => undefined);
    await this.#rest.write({ method: 'DELETE', path: `/api/v1/nodes/${this.#name}` }).catch(() => undefined);
    this.#rest.close();
  }

  async #run(): Promise<void> {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: this.#name, labels: { 'kubernetes.io/hostname': this.#name } },
    };
    await this.#rest.write({ method: 'POST', path: '/api/v1/nodes', body: node }).catch(() => undefined);
    while (!this.#leaving.signal.aborted) {
      await this.#turn().catch(() => undefined); // conflicts: the next turn looks again
      await sleep(EVERY_MS);
    }
  }

  async #turn(): Promise<void> {
    if (Date.now() - this.#beatAt > BEAT_MS) await this.#beat().catch(() => undefined);
    const sweeps = Date.now() - this.#sweptAt > SWEEP_MS;
    if (sweeps) {
      this.#sweptAt = Date.now();
      await this.#volumes().catch(() => undefined);
    }
    const fieldSelector = `spec.nodeName=${this.#name}${sweeps ? '' : ',status.phase=Pending'}`;
    const { items } = await this.#list<Pod>('pods', { fieldSelector });
    for (const pod of items) await this.#play(pod).catch(() => undefined);
  }

  async #beat(): Promise<void> {
    const now = new Date().toISOString();
    const amounts = { cpu: '1000', memory: '1000Gi', pods: '1000', 'ephemeral-storage': '1000Gi' };
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    };
    const status = { capacity: amounts, allocatable: amounts, conditions: [{ ...ready, message: 'hollow' }] };
    await this.#patch(`/api/v1/nodes/${this.#name}/status`, { status });
    await this.#patch(`/api/v1/nodes/${this.#name}`, { spec: { taints: null } });
    this.#beatAt = Date.now();
  }

  async #play({ metadata, spec, status }: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    if (metadata.deletionTimestamp) {
      // The Job of a pod counts it only once it has ended.
      if (metadata.finalizers?.length) await this.#patch(`${path}/status`, { status: { phase: 'Failed' } });
      await this.#rest.write({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
      return;
    }
    if (status?.phase !== 'Pending' || this.stuck.test(metadata.name)) return;
    const component = metadata.labels?.['app.kubernetes.io/component'];
    const ends = ['migrate', 'recovery', 'backup', 'restore'].includes(component ?? '');
    await this.#patch(`${path}/status`, { status: ends ? this.#ended(spec) : this.#up(spec) });
  }

  #up({ containers }: Pod['spec']): object {
    const at = new Date().toISOString();
    const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: at,
    }));
    const containerStatuses = containers.map(({ name, image }) => ({
      ...{ name, image, imageID: image, ready: true, started: true, restartCount: 0 },
      state: { running: { startedAt: at } },
    }));
    return {
      phase: 'Running',
      startTime: at,
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions,
      containerStatuses,
    };
  }

  #ended({ containers }: Pod['spec']): object {
    const at = new Date().toISOString();
    const terminated = { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at };
    const containerStatuses = containers.map(({ name, image }) => ({
      ...{ name, image, imageID: image, ready: false, restartCount: 0 },
      state: { terminated },
    }));
    return { phase: 'Succeeded', startTime: at, containerStatuses };
  }

  /** One volume for each claim that waits. */
  async #volumes(): Promise<void> {
    const { items } = await this.#list<KubeObject>('persistentvolumeclaims');
    for (const { metadata, spec: desired, status } of items) {
      if ((status as { phase?: string } | undefined)?.phase === 'Bound') continue;
      if ((desired as { storageClassName?: string }).storageClassName !== CLASS) continue;
      const { name, namespace, uid } = metadata;
      const spec = {
        capacity: { storage: '10Ti' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: CLASS,
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
        hostPath: { path: `/nowhere/${uid}` },
      };
      const volume = `hollow-${uid}`;
      this.#made.add(volume);
      const body = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: volume }, spec };
      await this.#rest.write({ method: 'POST', path: '/api/v1/persistentvolumes', body }).catch(() => undefined);
    }
  }

  /** From the API server's cache: late objects are read again in the next turn. */
  #list<T>(plural: string, query: Record<string, string> = {}): Promise<List<T>> {
    const where = this.#namespace && `/namespaces/${this.#namespace}`;
    const path = `/api/v1${where}/${plural}`;
    return this.#rest.read<List<T>>({ method: 'GET', path, query: { ...query, resourceVersion: '0' } });
  }

  #patch(path: string, body: object): Promise<object> {
    return this.#rest.write({ method: 'PATCH', path, body, contentType: MERGE_PATCH });
  }
}

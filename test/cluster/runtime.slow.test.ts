// The controller kit on a real API server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pino } from 'pino';
import { Credentials } from '#operator/runtime/credentials.ts';
import { hasStatus } from '#operator/runtime/faults.ts';
import { APPLIED, type Controller, done, FINALIZER, KEEP, type Kube, type KubeObject } from '#operator/runtime/kube.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { APPLY_PATCH, MERGE_PATCH, type Rest } from '#operator/runtime/rest.ts';
import { connected } from './runtime-kube.ts';
import { UP_MS } from './support/cluster.ts';
import { eventually, least } from './support/until.ts';

const log = pino({ level: process.env.FOYER_LOG_LEVEL ?? 'silent' });
let rest: Rest;
let kubeconfig: string;
const TOY = fileURLToPath(new URL('runtime-toy.ts', import.meta.url));

const deployment = (more: { replicas?: number; image?: string; cpu?: string } = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'child', labels: { app: 'child' } },
  spec: {
    ...(more.replicas !== undefined && { replicas: more.replicas }),
    selector: { matchLabels: { app: 'child' } },
    template: {
      metadata: { labels: { app: 'child' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: more.image ?? 'foyer:1',
            ports: [{ containerPort: 8080, name: 'http' }],
            env: [{ name: 'EMPTY', value: '' }],
            resources: { requests: { cpu: more.cpu ?? '1000m', memory: '1024Mi' }, limits: { memory: '2048Mi' } },
            livenessProbe: { httpGet: { path: '/live', port: 'http' }, periodSeconds: 10 },
            volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
          },
        ],
        volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '1024Mi' } }],
      },
    },
  },
});
const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'child' },
  spec: { selector: { app: 'child' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
};
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'child-keys', annotations: { [KEEP]: 'true' } },
  stringData: { key: 'value' },
};
const policy: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'child' },
  spec: {
    podSelector: { matchLabels: { app: 'child' } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 8080, protocol: 'TCP' }] }],
    egress: [],
  },
};
const WATCHES = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'Secret' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor', optional: true },
];

const FOYER = '/apis/foyer.media/v1alpha1';
let count = 0;

describe('controller kit', () => {
  let namespace: string;
  let stops: (() => Promise<unknown>)[] = [];

  before(async () => {
    ({ rest, kubeconfig } = await connected());
  }).timeout(UP_MS);

  beforeEach(async () => {
    count += 1;
    namespace = `kit-${process.pid}-${count}`;
    const metadata = { name: namespace };
    await rest.write({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata },
    });
  });

  afterEach(async () => {
    await Promise.all(stops.map((stop) => stop()));
    stops = [];
    await rest.write({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  });

  const in_ = (base: string, plural: string, name: string) => `${base}/namespaces/${namespace}/${plural}/${name}`;
  const read = (path: string) => rest.read<KubeObject>({ method: 'GET', path });
  const exists = (path: string) =>
    read(path).then(
      () => true,
      (error: unknown) => {
        if (!hasStatus(error, 404)) throw error;
        return false;
      },
    );
  const merge = (path: string, body: object) => rest.write({ method: 'PATCH', path, body, contentType: MERGE_PATCH });

  const library = (name = 'films') =>
    rest.write<KubeObject>({
      method: 'POST',
      path: `${FOYER}/namespaces/${namespace}/libraries`,
      body: {
        apiVersion: 'foyer.media/v1alpha1',
        kind: 'Library',
        metadata: { name },
        spec: { serverRef: { name: 'home' }, type: 'movies' },
      },
    });

  /** A manager in this process, whose controller does the present `work`. */
  function run(work: { do(owner: KubeObject, kube: Kube): Promise<unknown> }, workers = 2) {
    const controller: Controller = {
      kind: 'Library',
      watches: WATCHES,
      async reconcile({ name }, kube) {
        const owner = kube.get('Library', namespace, name);
        if (owner) await work.do(owner, kube);
        return done;
      },
    };
    const credentials = new Credentials(kubeconfig);
    const manager = new Manager({ credentials, controllers: [controller], log, namespaces: [namespace], workers });
    const stopping = new AbortController();
    const ended = manager.run(stopping.signal);
    const stop = async () => {
      stopping.abort();
      return ended;
    };
    stops.push(stop);
    const writes = async () => (await manager.metrics.writes.get()).values.reduce((sum, { value }) => sum + value, 0);
    const passes = async () =>
      (await manager.metrics.reconciles.get()).values.reduce((sum, { value }) => sum + value, 0);
    return { manager, stop, writes, passes };
  }

  const touch = (value: string) =>
    merge(in_(FOYER, 'libraries', 'films'), { metadata: { annotations: { touched: value } } });

  it('writes the desired state once, and nothing more at rest, also after a restart', async () => {
    const wanted = [deployment(), service, secret, policy];
    const applied = { do: (owner: KubeObject, kube: Kube) => kube.apply(owner, wanted) };
    const first = run(applied);
    await library();
    await eventually(async () => (await first.writes()) === wanted.length);
    await sleep(1500); // the changes that our own writes make come back
    for (const value of ['1', '2']) await touch(value);
    await eventually(async () => (await first.passes()) >= 3);
    expect(await first.writes()).to.equal(wanted.length);
    await first.stop();
    const second = run(applied);
    await eventually(async () => (await second.passes()) >= 1);
    await sleep(500);
    expect(await second.writes()).to.equal(0);
    const child = await read(in_('/apis/apps/v1', 'deployments', 'child'));
    expect(child.metadata.ownerReferences).to.have.length(1);
    expect(child.metadata.annotations).to.have.property(APPLIED);
  });

  it('restores fields of ours that were changed, reports so, and leaves those of others', async () => {
    const { writes } = run({ do: (owner, kube) => kube.apply(owner, [deployment(), service]) });
    await library();
    await eventually(async () => (await writes()) === 2);
    const path = in_('/apis/apps/v1', 'deployments', 'child');
    await merge(path, { spec: { replicas: 3 }, metadata: { annotations: { theirs: 'x' } } });
    await sleep(1000);
    expect(await writes()).to.equal(2);
    const containers = [{ name: 'main', image: 'other:2' }];
    await rest.write({
      method: 'PATCH',
      path,
      body: { spec: { template: { spec: { containers } } } },
      contentType: 'application/strategic-merge-patch+json',
    });
    await eventually(async () => JSON.stringify(await read(path)).includes('foyer:1'));
    const after = await read(path);
    expect((after.spec as { replicas: number }).replicas).to.equal(3);
    expect(after.metadata.annotations).to.have.property('theirs', 'x');
    await eventually(async () => {
      const { items } = await rest.read<{ items: { reason: string; message: string }[] }>({
        method: 'GET',
        path: `/api/v1/namespaces/${namespace}/events`,
      });
      return items.some(({ reason, message }) => reason === 'DriftCorrected' && message.includes('containers.0.image'));
    });
  });

  it('removes objects that are no longer desired, but never objects that are kept or belong to others', async () => {
    const work = { do: (owner: KubeObject, kube: Kube) => kube.apply(owner, [deployment(), service, secret]) };
    const { writes } = run(work);
    await library();
    await eventually(async () => (await writes()) === 3);
    work.do = (owner, kube) => kube.apply(owner, [service]);
    await touch('1');
    await eventually(async () => !(await exists(in_('/apis/apps/v1', 'deployments', 'child'))));
    expect(await exists(in_('/api/v1', 'secrets', 'child-keys'))).to.equal(true);
    expect(await exists(in_('/api/v1', 'services', 'child'))).to.equal(true);
  });

  it('does not take over an object that it did not make', async () => {
    const path = in_('/apis/networking.k8s.io/v1', 'networkpolicies', 'child');
    const theirs = { ...policy, spec: { podSelector: {}, policyTypes: ['Ingress'] } };
    const query = { fieldManager: 'somebody' };
    await rest.write({ method: 'PATCH', path, query, contentType: APPLY_PATCH, body: theirs });
    const { passes } = run({ do: (owner, kube) => kube.apply(owner, [policy]) });
    await library();
    await eventually(async () => (await passes()) >= 1);
    expect((await read(path)).spec).to.deep.equal(theirs.spec);
  });

  it('writes a status that differs, and none that is equal', async () => {
    const conditions = [
      {
        type: 'Ready',
        status: 'True',
        reason: 'AllReady',
        message: 'm',
        lastTransitionTime: '2026-01-01T00:00:00.000Z',
      },
    ];
    const work = { status: { items: 1, observedGeneration: 1, conditions } as object };
    const { writes, passes } = run({ do: (owner, kube) => kube.applyStatus(owner, work.status) });
    await library();
    await eventually(async () => (await writes()) === 1);
    await touch('1');
    await eventually(async () => (await passes()) >= 2);
    await sleep(500);
    expect(await writes()).to.equal(1);
    work.status = { observedGeneration: 1, conditions };
    await touch('2');
    await eventually(async () => (await writes()) === 2);
    expect((await read(in_(FOYER, 'libraries', 'films'))).status).to.deep.equal(work.status);
  });

  it('holds a deleted object by its finalizer until it is let go', async () => {
    const work = { hold: true };
    run({ do: (owner, kube) => kube.setFinalizer(owner, work.hold) });
    await library();
    const path = in_(FOYER, 'libraries', 'films');
    await eventually(async () => (await read(path)).metadata.finalizers?.includes(FINALIZER) === true);
    await rest.write({ method: 'DELETE', path });
    await sleep(300);
    expect((await read(path)).metadata).to.have.property('deletionTimestamp');
    work.hold = false;
    await touch('1');
    await eventually(async () => !(await exists(path)));
  });

  it('emits at most ten Events a minute for one object, and counts repetitions', async () => {
    const { manager } = run({ do: async () => undefined });
    const owner = await library();
    for (let i = 0; i < 5; i++) manager.kube.event(owner, { type: 'Warning', reason: 'Same', message: 'again' });
    for (let i = 0; i < 30; i++) manager.kube.event(owner, { type: 'Normal', reason: 'Other', message: `${i}` });
    const events = () =>
      rest.read<{ items: { reason: string; count: number }[] }>({
        method: 'GET',
        path: `/api/v1/namespaces/${namespace}/events`,
      });
    await eventually(async () => (await events()).items.length === 6);
    await sleep(500);
    const { items } = await events();
    expect(items).to.have.length(6); // one of five writes, five more
    expect(items.find(({ reason }) => reason === 'Same')?.count).to.equal(5);
  });

  describe('with two operators', () => {
    const WRITER = () => in_('/api/v1', 'configmaps', 'films-writer');
    /** The last writer; undefined before the first. */
    const writer = async () =>
      (await exists(WRITER())) ? Number(((await read(WRITER())).data as { writer: string }).writer) : undefined;

    function operator(env: Record<string, string> = {}): ChildProcess & { pid: number } {
      const child = spawn(process.execPath, [TOY, namespace], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, KUBECONFIG: kubeconfig, ...env },
      });
      stops.push(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      });
      return child as ChildProcess & { pid: number };
    }

    /** The first leads, the second waits. */
    async function two() {
      await library();
      const first = operator();
      await eventually(async () => (await writer()) === first.pid);
      const second = operator();
      await sleep(4000); // its caches are filled by then
      expect(await writer()).to.equal(first.pid);
      return { first, second };
    }

    async function secondsUntil(pid: number): Promise<number> {
      const began = performance.now();
      await eventually(async () => (await writer()) === pid, 40_000);
      return (performance.now() - began) / 1000;
    }

    /** The other one stops the first, and is followed by a new one that waits. */
    async function handOver(stop: (first: ChildProcess) => void) {
      let { first, second } = await two();
      return async (): Promise<number> => {
        const [ended, leads] = [once(first, 'exit'), second];
        stop(first);
        const seconds = await secondsUntil(leads.pid);
        const [code, signal] = await ended;
        expect(code ?? signal).to.be.oneOf([0, 'SIGKILL']);
        [first, second] = [leads, operator()];
        await sleep(4000);
        return seconds;
      };
    }

    it('hands over within three seconds when it is stopped', async () => {
      const seconds = await least(4, 3, await handOver((first) => first.kill('SIGTERM')));
      expect(seconds).to.be.at.most(3);
    });

    it('is followed within twenty seconds when it is killed', async () => {
      const seconds = await least(3, 20, await handOver((first) => first.kill('SIGKILL')));
      expect(seconds).to.be.at.most(20);
    });

    it('writes nothing more after it was stopped for longer than the lease lasts', async () => {
      const { first, second } = await two();
      first.kill('SIGSTOP');
      await secondsUntil(second.pid);
      let foreign = 0;
      const ended = once(first, 'exit');
      first.kill('SIGCONT');
      const watching = setInterval(() => {
        void writer().then((pid) => {
          if (pid !== second.pid) foreign += 1;
        });
      }, 20);
      const [code] = await ended;
      await sleep(500);
      clearInterval(watching);
      expect(code).to.equal(1);
      expect(foreign).to.equal(0);
    });

    it('ends right after the write at which it must die, and another one continues', async () => {
      await library();
      const dying = operator({ FOYER_CRASH_AFTER_WRITES: '3' });
      const [, signal] = await once(dying, 'exit', { signal: AbortSignal.timeout(60_000) });
      expect(signal).to.equal('SIGKILL');
      expect(await writer()).to.equal(dying.pid);
      const next = operator();
      await secondsUntil(next.pid);
    });
  });
}).timeout(240_000);

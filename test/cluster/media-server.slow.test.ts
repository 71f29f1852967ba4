// The MediaServer controller against a real API server, with a node that only reports pods as running.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { mediaServerController } from '#operator/media-server/controller.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newLog } from '#operator/runtime/log.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { named, specs } from '../operator/media-server/specs.ts';
import { images, MemoryKube, mediaServer as resource, World } from '../operator/media-server/support.ts';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { cordoned } from './support/cordon.ts';
import { HollowNode } from './support/hollow-node.ts';
import { until } from './support/until.ts';

type Plain = Record<string, unknown>;

/** Of operators that are not installed here. */
const FOREIGN = ['Cluster', 'HTTPRoute', 'ServiceMonitor', 'PrometheusRule', 'MediaServer'];

interface Status {
  conditions?: { type: string; status: string; reason: string; message: string }[];
  apiReady?: string;
  transcode?: { jobs?: number };
}

describe('MediaServer on a real API server', function () {
  this.timeout(180_000);
  let cluster: Cluster;

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    await cluster.kubectl.installKinds();
    const meta = { metadata: { name: 'high' } };
    await cluster.kubectl.apply(
      { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', ...meta, value: 1000 },
      { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'nvidia' }, handler: 'nvidia' },
    );
  });

  describe('objects', () => {
    let namespace = '';
    before(async () => {
      namespace = await cluster.kubectl.namespace('dry');
      await cluster.kubectl.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'home', namespace } });
    });
    after(() => cluster.kubectl.deleteNamespace(namespace));

    const dryRun = async (objects: readonly object[]): Promise<string> => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const words = ['apply', '--server-side', '--dry-run=server', '--field-manager=test', '-f', '-'];
      const { code, err } = await cluster.kubectl.attempt(words, list);
      return code === 0 && !/warning/i.test(err) ? '' : err;
    };

    for (const [name, spec] of Object.entries(specs))
      it(`are taken, and their pods pass Pod Security restricted: ${name}`, async () => {
        const world = new World(resource(spec), new MemoryKube().put(...named));
        await world.settle();
        const all = [...world.kube.objects.values()].filter(({ kind, metadata }) => {
          return !FOREIGN.includes(kind) && metadata.labels?.['app.kubernetes.io/managed-by'];
        });
        const here = all.map((object) => placed(object, namespace));
        const pods = here.flatMap((object) => podOf(object, namespace));
        expect(pods.length).to.be.greaterThan(4);
        const [refused, refusedPods] = [await dryRun(here), await dryRun(pods)];
        if (name !== 'media') expect(`${refused}${refusedPods}`).to.equal('');
        else expect(refusedPods, 'a path of the node is what RESOURCES.md warns of').to.contain('hostPath');
      });
  });

  describe('operator', () => {
    let namespace = '';
    let hollow: HollowNode;
    let uncordon: () => Promise<void>;
    let manager: Manager;
    let running: Promise<boolean>;
    const stopping = new AbortController();
    const at = { kind: 'mediaserver', name: 'home' };
    const find = () => cluster.kubectl.find<KubeObject & { status?: Status }>({ ...at, namespace });
    const condition = async (type: string): Promise<string> => {
      const found = (await find())?.status?.conditions?.find((one) => one.type === type);
      return `${found?.status} ${found?.reason}`;
    };
    /** Within 90 s, or the error lists all conditions. */
    const reaches = async (type: string, text: string): Promise<void> => {
      try {
        await until(text, async () => (await condition(type)) === text, 90_000);
      } catch {
        const all = (await find())?.status?.conditions?.map((one) => Object.values(one).slice(1).join(' ')).join('\n');
        throw new Error(`${type} is not ${text}:\n${all}`);
      }
    };
    /** Written by this operator so far, status and children. */
    const writes = async (): Promise<number> => {
      const { values } = await manager.metrics.writes.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    };

    before(async () => {
      namespace = await cluster.kubectl.namespace('ms');
      uncordon = await cordoned(cluster.kubectl);
      hollow = new HollowNode(cluster.kubeconfig, namespace);
      hollow.start();
      const answers: Record<string, unknown> = {
        '/server/info': { setupComplete: false, version: '1.0.0' },
        '/server/health': { checks: ['database', 'redis', 'objects'].map((name) => ({ name, state: 'ok' })) },
      };
      const request = async (_method: string, path: string) => ({ status: 200, body: answers[path] });
      const metrics = async () => 'foyer_transcode_waiting 0\nfoyer_transcode_sessions 0\nfoyer_transcode_workers 0\n';
      manager = new Manager({
        credentials: new Credentials(cluster.kubeconfig),
        controllers: [mediaServerController({ images, clusterNetworks: [], connect: () => ({ request, metrics }) })],
        log: newLog(process.env.FOYER_LOG_LEVEL ?? 'silent'),
        namespaces: [namespace],
      });
      running = manager.run(stopping.signal);
    });
    after(async () => {
      stopping.abort();
      await running;
      await cluster.kubectl.deleteNamespace(namespace);
      await until('the end of the namespace', async () => {
        return !(await cluster.kubectl.find({ kind: 'namespace', name: namespace }));
      });
      await hollow.stop();
      await uncordon();
    });

    it('brings the resource to Ready', async () => {
      const managed = { storageClassName: 'hollow' };
      const spec = { postgres: { managed }, redis: { managed: {} }, objects: { managed } };
      await cluster.kubectl.apply({ ...resource(spec), metadata: { name: 'home', namespace } });
      await reaches('Ready', 'True AllReady');
      await reaches('Progressing', 'False Stable');
      const jobs = await cluster.kubectl.list<KubeObject>('jobs', namespace);
      const phases = jobs.map(({ metadata }) => metadata.annotations?.['foyer.media/phase']).filter(Boolean);
      expect(phases).to.have.members(['contract', 'expand']);
      expect((await find())?.status).to.deep.include({ apiReady: '2/2' });
      const printed = await cluster.kubectl.run(['get', 'ms', 'home', '-n', namespace, '--no-headers']);
      expect(printed).to.match(/^home\s+True\s+Running\s+1\.0\.0\s+2\/2/);
    });

    it('writes nothing at rest, however often it looks', async () => {
      await until('rest', async () => {
        const before = await writes();
        await sleep(3000);
        return (await writes()) === before;
      });
      const before = await writes();
      const passes = async (): Promise<number> => {
        const { values } = await manager.metrics.reconciles.get();
        return values.reduce((sum, { value }) => sum + value, 0);
      };
      const from = await passes();
      await sleep(15_000);
      expect(await passes()).to.be.greaterThan(from + 2);
      expect((await writes()) - before).to.equal(0);
    });

    it('restores fields that others change, and leaves alone the fields that others own', async () => {
      const service = { kind: 'service', name: 'home-api', namespace };
      await cluster.kubectl.patch(service, {
        metadata: { annotations: { mesh: 'x' } },
        spec: { selector: { odd: 'y', 'app.kubernetes.io/instance': 'z' } },
      });
      const restored = await until('the selector', async () => {
        const object = await cluster.kubectl.find<KubeObject>(service);
        const { selector } = (object?.spec ?? {}) as { selector?: Plain };
        return selector?.['app.kubernetes.io/instance'] === 'home' && object;
      });
      expect(restored.metadata.annotations).to.include({ mesh: 'x' });
      await cluster.kubectl.run(['delete', 'deployment', 'home-api', '-n', namespace]);
      await until('the Deployment', () => cluster.kubectl.find({ kind: 'deployment', name: 'home-api', namespace }));
      await reaches('Ready', 'True AllReady');
    });

    it('scales by the scale subresource', async () => {
      await cluster.kubectl.run(['scale', 'mediaserver/home', '-n', namespace, '--replicas=3']);
      await until('3 pods', async () => (await find())?.status?.apiReady === '3/3');
    });

    it('hands its number of pods over to an autoscaler, and ends none for it', async () => {
      const replicas = async (): Promise<number> => {
        const words = ['get', 'deployment', 'home-api', '-n', namespace, '-o', 'jsonpath={.spec.replicas}'];
        return Number(await cluster.kubectl.run(words));
      };
      const least = async (ms: number): Promise<number> => {
        const seen: number[] = [];
        for (const end = Date.now() + ms; Date.now() < end; await sleep(200)) seen.push(await replicas());
        return Math.min(...seen);
      };
      const looking = least(20_000);
      await cluster.kubectl.patch({ ...at, namespace }, { spec: { api: { autoscaling: { min: 2, max: 5 } } } });
      expect(await looking).to.equal(3);
      await cluster.kubectl.patch({ ...at, namespace }, { spec: { api: { autoscaling: null, replicas: 2 } } });
      await until('2 pods', async () => (await find())?.status?.apiReady === '2/2');
    });

    it('rolls another version out behind its migration', async () => {
      hollow.stuck = /-migrate-/;
      await cluster.kubectl.patch({ ...at, namespace }, { spec: { version: '2.0.0' } });
      await reaches('MigrationsApplied', 'False MigrationPending');
      const image = async (): Promise<string> => {
        const words = ['get', 'deployment', 'home-api', '-n', namespace, '-o', 'jsonpath={..containers[0].image}'];
        return cluster.kubectl.run(words);
      };
      await sleep(2000);
      expect(await image()).to.equal('foyer:1.0.0');
      hollow.stuck = /^$/;
      await until('the new version', async () => (await image()) === 'foyer:2.0.0');
      await reaches('Progressing', 'False Stable');
    });

    it('reports refusals of the API server, and recovers', async () => {
      const impossible = { requests: { memory: '4Gi' }, limits: { memory: '1Gi' } };
      await cluster.kubectl.patch({ ...at, namespace }, { spec: { workers: { resources: impossible } } });
      await reaches('Stalled', 'True Refused');
      expect(await condition('Ready')).to.equal('True AllReady');
      await cluster.kubectl.patch({ ...at, namespace }, { spec: { workers: { resources: null } } });
      await reaches('Stalled', 'undefined undefined');
      await reaches('Progressing', 'False Stable');
    });

    it('reports a Job whose pod the cluster refuses', async () => {
      const metadata = { name: 'full', namespace };
      const hard = { 'count/pods': '0' };
      await cluster.kubectl.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
      const pool = ['-l', 'app.kubernetes.io/component=transcode', '--wait=false'];
      await cluster.kubectl.run(['delete', 'jobs', '-n', namespace, ...pool]);
      await reaches('TranscodeReady', 'False Refused');
      const message = (await find())?.status?.conditions?.find(({ type }) => type === 'TranscodeReady')?.message;
      expect(message).to.match(/^no pod of Job home-transcode-\d+ can be created: its pod is .*exceeded quota: full/);
      expect(message).to.contain('(FailedCreate)');
      expect(await condition('Ready')).to.equal('True AllReady');
      await cluster.kubectl.run(['delete', 'resourcequota', 'full', '-n', namespace]);
      await until('no refusal', async () => !(await condition('TranscodeReady')).includes('Refused'), 90_000);
    });

    it('leaves the volumes of data, and the Secrets that open them, when it is deleted', async () => {
      await cluster.kubectl.run(['delete', 'mediaserver', 'home', '-n', namespace]);
      for (const kind of ['deployments', 'statefulsets', 'jobs', 'services', 'networkpolicies', 'configmaps'])
        await until(`no ${kind}`, async () => {
          const left = await cluster.kubectl.list<KubeObject>(kind, namespace, 'app.kubernetes.io/instance=home');
          return left.length === 0;
        });
      const names = async (kind: string): Promise<string[]> => {
        const objects = await cluster.kubectl.list<KubeObject>(kind, namespace);
        return objects.map(({ metadata }) => metadata.name).sort();
      };
      expect(await names('persistentvolumeclaims')).to.deep.equal(['data-home-objects-0', 'data-home-postgres-0']);
      await until('only the Secrets of data', async () => {
        return (await names('secrets')).join() === ['home-keys', 'home-objects', 'home-postgres'].join();
      });
    });
  });
});

/** In the namespace of the test, whose name stands in no other field that matters to the API server. */
function placed(object: KubeObject, namespace: string): KubeObject {
  const { uid: _uid, generation: _generation, creationTimestamp: _made, ...metadata } = object.metadata;
  const { status: _status, ...rest } = object;
  return { ...rest, metadata: { ...metadata, namespace } } as KubeObject;
}

function podOf({ kind, metadata, spec }: KubeObject, namespace: string): object[] {
  const { template } = (spec ?? {}) as { template?: { metadata: { labels: object }; spec: object } };
  if (!template) return [];
  const restart = kind === 'Job' ? {} : { restartPolicy: 'Always' };
  const volumes = kind === 'StatefulSet' ? withData(template.spec) : template.spec;
  const { labels } = template.metadata;
  return [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: metadata.name, namespace, labels },
      spec: { ...volumes, ...restart },
    },
  ];
}

function withData(spec: object): object {
  const { volumes = [] } = spec as { volumes?: { name: string }[] };
  return { ...spec, volumes: [...volumes.filter(({ name }) => name !== 'data'), { name: 'data', emptyDir: {} }] };
}

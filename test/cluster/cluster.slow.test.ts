import { expect } from 'chai';
import { type Cluster, controlPlane, gpus, node, UP_MS } from './support/cluster.ts';
import { library, mediaServer, tunerDevice } from './support/specs.ts';
import { until } from './support/until.ts';

interface Condition {
  type: string;
  status: string;
  message?: string;
}
interface Definition {
  metadata: { name: string };
  status: { conditions: Condition[] };
}

describe('the cluster of the tests', () => {
  let cluster: Cluster;

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    await cluster.kubectl.installKinds();
  });

  it('takes the three kinds, structural and with their rules', async () => {
    const all = await cluster.kubectl.list<Definition>('customresourcedefinitions');
    const ours = all.filter(({ metadata }) => metadata.name.endsWith('.foyer.media'));
    expect(ours.map(({ metadata }) => metadata.name)).to.have.length(3);
    const wrong = ours.flatMap(({ status }) =>
      status.conditions.filter(({ type, status: is }) => is !== (type === 'NonStructuralSchema' ? 'False' : 'True')),
    );
    expect(wrong).to.deep.equal([]);
  });

  for (const [path, text] of [
    ['mediaserver', 'A media-library server'],
    ['mediaserver.spec', 'Desired state of the MediaServer'],
    ['mediaserver.spec.transcode.fallbackToCPU', 'Use the CPU when no accelerator is available'],
    ['library.spec.folders.path', 'Folder inside it'],
    ['tunerdevice.spec.source', 'exactly one of hdhomerun, m3u'],
  ] as const)
    it(`explains ${path}`, async () => {
      expect(await cluster.kubectl.run(['explain', path])).to.include(text);
    });

  it('fills the defaults and keeps status out of an apply', async () => {
    const { kubectl } = cluster;
    const namespace = await kubectl.namespace('kinds');
    const there = (resource: object) => kubectl.apply({ ...resource, metadata: { name: 'home', namespace } });
    await Promise.all([mediaServer('home'), library('home'), tunerDevice('home')].map(there));
    const made = await kubectl.find<{ spec: Record<string, Record<string, unknown>>; status?: object }>({
      kind: 'mediaserver',
      name: 'home',
      namespace,
    });
    expect(made?.spec.api?.replicas).to.equal(2);
    expect(made?.spec.transcode?.max).to.equal(4);
    expect(made?.status, 'no operator has processed it').to.deep.equal({ observedGeneration: 0 });
    await kubectl.run(['scale', 'mediaserver/home', '-n', namespace, '--replicas=3']);
    const scaled = await kubectl.find<{ spec: { api: object } }>({ kind: 'ms', name: 'home', namespace });
    expect(scaled?.spec.api).to.include({ replicas: 3 });
    await kubectl.deleteNamespace(namespace);
  });

  it('counts writes in the audit log, and none at rest', async () => {
    const { kubectl, audit } = cluster;
    const mark = await audit.mark();
    expect(await audit.writes(mark, /^admin$/)).to.deep.equal([]);
    await kubectl.run(['create', 'configmap', 'counted', '-n', 'default']);
    await kubectl.run(['delete', 'configmap', 'counted', '-n', 'default']);
    const writes = await audit.writes(mark, /^admin$/);
    expect(writes.map(({ verb, resource, name, code }) => [verb, resource, name, code])).to.deep.equal([
      ['create', 'configmaps', 'counted', 201],
      ['delete', 'configmaps', 'counted', 200],
    ]);
  });

  it('gives a claim of the default class a volume, and takes it back with the claim', async () => {
    const { kubectl } = cluster;
    const namespace = await kubectl.namespace('claims');
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
    await kubectl.apply({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a', namespace }, spec });
    await kubectl.wait({ kind: 'pvc', name: 'a', namespace }, 'jsonpath={.status.phase}=Bound', 30);
    await kubectl.deleteNamespace(namespace);
    interface Volume {
      spec: { claimRef?: { namespace: string } };
    }
    const left = async () => {
      const volumes = await kubectl.list<Volume>('persistentvolumes');
      return volumes.some(({ spec: { claimRef } }) => claimRef?.namespace === namespace);
    };
    await until('the volume gone', async () => !(await left()));
  });

  it('has a node that can be made to advertise an accelerator', async function () {
    this.timeout(120_000);
    const { kubectl } = await node();
    const allocatable = async () => {
      const [first] = await kubectl.list<{ status: { allocatable: Record<string, string> } }>('nodes');
      return first?.status.allocatable['nvidia.com/gpu'];
    };
    await gpus(2);
    expect(await allocatable()).to.equal('2');
    await gpus(0);
    expect(await allocatable()).to.equal('0');
  });
});

// Pods of a server whose films lie on a claim that one node at a time can mount, as the real scheduler places them on two nodes.
import { expect } from 'chai';
import { mediaServerController } from '#operator/media-server/controller.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newLog } from '#operator/runtime/log.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { images, mediaServer as resource } from '../operator/media-server/support.ts';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { cordoned } from './support/cordon.ts';
import { HollowNode } from './support/hollow-node.ts';
import { until } from './support/until.ts';

describe('a server on two nodes', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let uncordon: () => Promise<void>;
  let nodes: HollowNode[] = [];
  const stopping = new AbortController();
  const running: Promise<unknown>[] = [];
  const namespaces: string[] = [];

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    await cluster.kubectl.installKinds();
    uncordon = await cordoned(cluster.kubectl);
    nodes = ['hollow-a', 'hollow-b'].map((name) => new HollowNode(cluster.kubeconfig, '', name));
    for (const node of nodes) node.start();
  });
  after(async () => {
    stopping.abort();
    await Promise.all(running);
    for (const namespace of namespaces) await cluster.kubectl.deleteNamespace(namespace);
    for (const name of namespaces)
      await until('the end', async () => !(await cluster.kubectl.find({ kind: 'namespace', name })));
    await Promise.all(nodes.map((node) => node.stop()));
    await uncordon();
  });

  /** Nodes of the pods that mount media, once all of them run. */
  async function nodesOfPods(accessMode: string): Promise<string[]> {
    const namespace = await cluster.kubectl.namespace('nodes');
    namespaces.push(namespace);
    const request = async () => ({ status: 503, body: {} });
    const manager = new Manager({
      credentials: new Credentials(cluster.kubeconfig),
      controllers: [
        mediaServerController({
          images,
          clusterNetworks: [],
          connect: () => ({ request, metrics: async () => undefined }),
        }),
      ],
      log: newLog('silent'),
      namespaces: [namespace],
    });
    running.push(manager.run(stopping.signal));
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'films', namespace },
      spec: {
        accessModes: [accessMode],
        storageClassName: '',
        volumeName: `films-${namespace}`,
        resources: { requests: { storage: '1Gi' } },
      },
    };
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `films-${namespace}` },
      spec: {
        capacity: { storage: '1Ti' },
        accessModes: [accessMode],
        storageClassName: '',
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace, name: 'films' },
        hostPath: { path: '/nowhere' },
      },
    };
    const managed = { storageClassName: 'hollow' };
    const media = [{ name: 'films', persistentVolumeClaim: { claimName: 'films' } }];
    const stores = { postgres: { managed }, redis: { managed: {} }, objects: { managed } };
    const spec = { ...stores, media, api: { replicas: 4 }, workers: { replicas: 3 }, transcode: { warm: 2 } };
    await cluster.kubectl.apply(volume, claim, { ...resource(spec), metadata: { name: 'home', namespace } });
    return until(
      'all pods',
      async () => {
        const of = 'app.kubernetes.io/component in (api, workers, transcode)';
        const pods = await cluster.kubectl.list<KubeObject>('pods', namespace, of);
        const placed = pods.flatMap(({ spec: its }) => (its as { nodeName?: string }).nodeName ?? []);
        return placed.length >= 9 && placed;
      },
      120_000,
    );
  }

  it('is spread over both where every node may mount its films', async () => {
    expect(new Set(await nodesOfPods('ReadWriteMany'))).to.have.lengthOf(2);
  });

  it('is kept on one where one at a time may', async () => {
    expect(new Set(await nodesOfPods('ReadWriteOnce'))).to.have.lengthOf(1);
  });
});

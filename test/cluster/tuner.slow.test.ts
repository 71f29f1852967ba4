// TunerDevice resources on a real API server without nodes: pods stay pending, and the test marks one as ready.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { Credentials } from '#operator/runtime/credentials.ts';
import { hasStatus } from '#operator/runtime/faults.ts';
import { FINALIZER, type KubeObject } from '#operator/runtime/kube.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { MERGE_PATCH, type Rest } from '#operator/runtime/rest.ts';
import { tunerDeviceController } from '#operator/tuner-device/controller.ts';
import { ServerTuners } from '#operator/tuner-device/server-tuners.ts';
import { connected } from './runtime-kube.ts';
import { controlPlane, UP_MS } from './support/cluster.ts';
import { cordoned } from './support/cordon.ts';
import { eventually } from './support/until.ts';

let rest: Rest;
let kubeconfig: string;
const GROUP = '/apis/foyer.media/v1alpha1';
const SERVER = {
  postgres: { managed: {} },
  redis: { managed: {} },
  objects: { managed: {} },
  media: [
    { name: 'recordings', hostPath: { path: '/recordings' }, readOnly: false },
    { name: 'films', hostPath: { path: '/films' }, readOnly: true },
  ],
};
const IMAGES = { foyer: 'foyer:1', postgres: 'p', redis: 'r', minio: 'm' };
const ADDRESS = 'http://provider.example/list?password=hunter2';

describe('TunerDevice resources', () => {
  const namespace = `tuner-${process.pid}`;
  const pod: { status: object; silent: boolean; server?: Server } = {
    status: { reachable: true, message: '', recording: false },
    silent: false,
  };
  let manager: Manager;
  let ended: Promise<boolean>;
  const stopping = new AbortController();

  const namespaced = (base: string, plural: string, name = '') =>
    `${base}/namespaces/${namespace}/${plural}${name && `/${name}`}`;
  const at = (name: string) => namespaced(GROUP, 'tunerdevices', name);
  const deploymentAt = namespaced('/apis/apps/v1', 'deployments', 'tv-tuner');
  const read = (path: string) => rest.read<KubeObject>({ method: 'GET', path });
  const listed = (path: string) => rest.read<{ items: KubeObject[] }>({ method: 'GET', path });
  const create = (path: string, body: object) => rest.write<KubeObject>({ method: 'POST', path, body });
  const merge = (path: string, body: object) => rest.write({ method: 'PATCH', path, body, contentType: MERGE_PATCH });
  const exists = (path: string) =>
    read(path).then(
      () => true,
      (error: unknown) => {
        if (!hasStatus(error, 404)) throw error;
        return false;
      },
    );
  const secret = (name: string, stringData: object) =>
    create(namespaced('/api/v1', 'secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });
  const tuner = (name: string, spec: object) =>
    create(at(''), {
      apiVersion: 'foyer.media/v1alpha1',
      kind: 'TunerDevice',
      metadata: { name },
      spec: { serverRef: { name: 'home' }, ...spec },
    });
  const condition = async (name: string, type: string) => {
    const { conditions = [] } = ((await read(at(name))).status ?? {}) as { conditions?: Record<string, string>[] };
    const found = conditions.find((entry) => entry.type === type);
    return found && `${found.status} ${found.reason}`;
  };
  const template = async () => JSON.stringify((await read(deploymentAt)).spec);

  /** No pod of an older template is left. */
  async function rolledOut(): Promise<boolean> {
    const { metadata, status } = (await read(deploymentAt)) as KubeObject & { status?: Record<string, number> };
    const { observedGeneration, replicas, updatedReplicas, readyReplicas } = status ?? {};
    const all = [replicas, updatedReplicas, readyReplicas].every((count) => count === 1);
    return all && observedGeneration === metadata.generation;
  }

  /** As a kubelet would, had we one. */
  async function podsReady(): Promise<void> {
    const { items } = await listed(namespaced('/api/v1', 'pods'));
    const conditions = [{ type: 'Ready', status: 'True' }];
    for (const { metadata } of items)
      await merge(`${namespaced('/api/v1', 'pods', metadata.name)}/status`, {
        status: { phase: 'Running', conditions },
      }).catch((error: unknown) => {
        if (!hasStatus(error, 404)) throw error; // it was replaced meanwhile
      });
  }

  let uncordon: () => Promise<void>;

  before(async () => {
    ({ rest, kubeconfig } = await connected());
    uncordon = await cordoned((await controlPlane()).kubectl);
    pod.server = createServer((_request, response) => {
      if (!pod.silent) response.end(JSON.stringify(pod.status));
    }).listen(0, '127.0.0.1');
    await once(pod.server, 'listening');
    const tunerUrl = `http://127.0.0.1:${(pod.server.address() as AddressInfo).port}`;
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'home' } };
    await create(namespaced('/api/v1', 'serviceaccounts'), account);
    manager = new Manager({
      credentials: new Credentials(kubeconfig),
      controllers: [tunerDeviceController({ images: IMAGES, servers: new ServerTuners(), tunerUrl })],
      log: pino({ level: process.env.FOYER_LOG_LEVEL ?? 'silent' }),
      namespaces: [namespace],
    });
    ended = manager.run(stopping.signal);
  }).timeout(UP_MS);

  after(async () => {
    await uncordon();
    stopping.abort();
    await ended;
    pod.server?.closeAllConnections();
    pod.server?.close();
    const { items } = await listed(at(''));
    for (const { metadata } of items) await merge(at(metadata.name), { metadata: { finalizers: null } });
    await rest.write({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  });

  it('waits for its server and for the Secret that it names, and reports so', async () => {
    const urlSecretRef = { name: 'playlist' };
    const guide = { xmltv: { url: 'http://guide.example/' }, refresh: '0 */6 * * *' };
    await tuner('tv', { source: { m3u: { urlSecretRef } }, guide, recordings: { media: 'recordings' } });
    await eventually(async () => (await condition('tv', 'Ready')) === 'Unknown ServerNotFound');
    const server = {
      apiVersion: 'foyer.media/v1alpha1',
      kind: 'MediaServer',
      metadata: { name: 'home' },
      spec: SERVER,
    };
    await create(namespaced(GROUP, 'mediaservers'), server);
    await eventually(async () => (await condition('tv', 'Ready')) === 'Unknown ServerNotReady');
    await secret('home-keys', { 'keys.json': '{"serverId":"s"}' });
    await eventually(async () => (await condition('tv', 'Ready')) === 'False SecretMissing');
    expect(await condition('tv', 'Stalled')).to.equal('True SecretMissing');
    await secret('playlist', { url: ADDRESS });
    await eventually(() => exists(deploymentAt));
  });

  it('makes one restricted pod and a Service, and writes no value of a Secret', async () => {
    const text = await template();
    expect(text).to.contain('"type":"Recreate"').and.contain('"runAsNonRoot":true');
    expect(text).to.contain('"mountPath":"/media/recordings"').and.not.contain('/media/films');
    expect(text).to.contain('"secretKeyRef":{"name":"playlist","key":"url"}').and.not.contain('hunter2');
    await eventually(() => exists(namespaced('/api/v1', 'services', 'tv-tuner')));
    expect(JSON.stringify(await read(at('tv')))).to.not.contain('hunter2');
  });

  it('reports the status of its pod', async () => {
    // There is no node, and so its pod waits for one.
    await eventually(async () => (await condition('tv', 'Ready')) === 'False Unschedulable');
    const lastGuideRefresh = new Date().toISOString();
    pod.status = { reachable: true, message: '', tuners: { total: 2, inUse: 1 }, channels: 30, lastGuideRefresh };
    await eventually(async () => {
      await podsReady();
      return (await condition('tv', 'Ready')) === 'True AllReady';
    });
    expect(await condition('tv', 'GuideFresh')).to.equal('True GuideRefreshed');
    expect((await read(at('tv'))).status).to.deep.include({ tuners: { total: 2, inUse: 1 }, channels: 30 });
    pod.status = { reachable: false, message: 'no route to it', lastGuideRefresh: '2026-01-01T00:00:00Z' };
    await eventually(async () => (await condition('tv', 'Reachable')) === 'False DeviceUnreachable');
    expect(await condition('tv', 'Ready')).to.equal('False DeviceUnreachable');
    expect(await condition('tv', 'GuideFresh')).to.equal('False GuideStale');
  });

  it('changes no field of the pod while it records, and holds its own deletion', async () => {
    pod.status = { reachable: true, message: '', recording: true };
    const isHeld = async () => (await read(at('tv'))).metadata.finalizers?.includes(FINALIZER) === true;
    await eventually(isHeld);
    const before = await template();
    pod.silent = true; // it has much to do
    await merge(at('tv'), { spec: { channels: { exclude: ['Shop*'] } } });
    await sleep(8000); // its question is given up by then
    expect(await template()).to.equal(before);
    expect(await isHeld()).to.equal(true);
    expect(await condition('tv', 'Ready')).to.equal('True AllReady');
    pod.silent = false;
    pod.status = { reachable: true, message: '', recording: false };
    await eventually(async () => (await template()).includes('Shop*'));
    await eventually(async () => !(await isHeld()));
    pod.status = { reachable: true, message: '', recording: true };
    await eventually(async () => {
      await podsReady();
      return (await rolledOut()) && isHeld();
    });
    await rest.write({ method: 'DELETE', path: at('tv') });
    await sleep(1500);
    expect(await exists(at('tv'))).to.equal(true);
    pod.status = { reachable: true, message: '', recording: false };
    await eventually(async () => !(await exists(at('tv'))));
    await eventually(async () => !(await exists(deploymentAt)));
  });

  it('rolls the pod when the Secret changes', async () => {
    await tuner('tv', { source: { m3u: { urlSecretRef: { name: 'playlist' } } } });
    await eventually(() => exists(deploymentAt));
    const before = await template();
    await merge(namespaced('/api/v1', 'secrets', 'playlist'), { stringData: { url: 'http://other.example/' } });
    await eventually(async () => (await template()) !== before);
    expect(await template()).to.contain('foyer.media/checksum');
  });

  it('refuses to record where nothing can be written', async () => {
    await tuner('radio', { source: { m3u: { url: 'http://x/' } }, recordings: { media: 'films' } });
    await eventually(async () => (await condition('radio', 'Ready')) === 'False MediaUnknown');
  });
}).timeout(240_000);

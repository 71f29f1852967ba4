// Library types and custom fields of spec.declared: from a ConfigMap of a real API server to a real API of Foyer.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { mediaServerController } from '#operator/media-server/controller.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newLog } from '#operator/runtime/log.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { type SendRequest, serverClient } from '#operator/server-api/server-client.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { images, mediaServer as resource } from '../operator/media-server/support.ts';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { cordoned } from './support/cordon.ts';
import { HollowNode } from './support/hollow-node.ts';
import { until } from './support/until.ts';

interface Status {
  conditions?: { type: string; status: string; reason: string; message: string }[];
}

const concert = { key: 'custom:concerts', name: 'Concerts', base: 'movies' };
const venue = { key: 'venue', label: 'Venue', kind: 'text', itemTypes: ['movie'] };
/** Longer than the interval of checks for drift. */
const REST_MS = 12_000;

describe('library types and custom fields of spec.declared on a real API server', function () {
  this.timeout(180_000);
  let cluster: Cluster;
  let api: Api;
  let admin: TestClient;
  let namespace = '';
  let hollow: HollowNode;
  let uncordon: () => Promise<void>;
  let running: Promise<boolean>;
  const stopping = new AbortController();
  const writes: string[] = [];

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    await cluster.kubectl.installKinds();
    api = await startApi();
    admin = api.as(await api.given.owner());
    namespace = await cluster.kubectl.namespace('declared');
    uncordon = await cordoned(cluster.kubectl);
    hollow = new HollowNode(cluster.kubeconfig, namespace);
    hollow.start();
    const answers: Record<string, unknown> = {
      '/server/info': { setupComplete: false, version: '1.0.0' },
      '/server/health': { checks: ['database', 'redis', 'objects'].map((name) => ({ name, state: 'ok' })) },
    };
    const real = serverClient(api.url, api.operatorKey);
    const request: SendRequest = async (method, path, body) => {
      if (!/^\/(?:themes|library-types|custom-fields|icon-sets|home\/layout)/.test(path))
        return { status: 200, body: answers[path] };
      const isTried = (body as { validateOnly?: boolean } | undefined)?.validateOnly;
      if (method !== 'GET' && !isTried) writes.push(`${method} ${path}`);
      return real(method, path, body);
    };
    const metrics = async () => 'foyer_transcode_waiting 0\nfoyer_transcode_sessions 0\nfoyer_transcode_workers 0\n';
    const manager = new Manager({
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
    await hollow.stop();
    await uncordon();
  });

  const put = (types: readonly object[], fields: readonly object[]) =>
    cluster.kubectl.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shelf', namespace },
      data: { 'library-types.json': JSON.stringify(types), 'custom-fields.json': JSON.stringify(fields) },
    });
  const condition = async (): Promise<string> => {
    const at = { kind: 'mediaserver', name: 'home', namespace };
    const found = await cluster.kubectl.find<KubeObject & { status?: Status }>(at);
    const one = found?.status?.conditions?.find(({ type }) => type === 'DeclaredReady');
    return `${one?.status} ${one?.reason} ${one?.message}`;
  };
  const reaches = (pattern: RegExp) => until(String(pattern), async () => pattern.test(await condition()), 90_000);

  it('are held as declared, and nothing is written at rest', async () => {
    await put([concert], [venue]);
    const managed = { storageClassName: 'hollow' };
    const stores = { postgres: { managed }, redis: { managed: {} }, objects: { managed } };
    const spec = { ...stores, declared: [{ configMapRef: { name: 'shelf' } }] };
    await cluster.kubectl.apply({ ...resource(spec), metadata: { name: 'home', namespace } });
    await reaches(/^True InSync .*: 2 in all$/);
    const { items } = (await admin.listLibraryTypes({ query: { source: 'own' } })).body;
    expect(items[0]?.managedBy).to.include({ kind: 'MediaServer', namespace, name: 'home' });
    expect(writes).to.deep.equal(['POST /library-types', 'POST /custom-fields']);
    await sleep(REST_MS);
    expect(writes, 'at rest').to.have.length(2);
  });

  it('follow the ConfigMap, and report what the API refuses', async () => {
    await put([{ ...concert, name: 'Gigs' }], [{ ...venue, label: 'Place' }]);
    await until('the change', async () => (await admin.listCustomFields()).body.items[0]?.label === 'Place', 60_000);
    await put([concert, { ...concert, key: 'custom:bad', base: 'nothing' }], []);
    await reaches(/^False ApiRefused ConfigMap shelf, library-types\.json, entry 2 \(custom:bad\): 400/);
    await until('the end of the field', async () => (await admin.listCustomFields()).body.items.length === 0, 60_000);
  });
});

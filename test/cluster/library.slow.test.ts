// Library resources on a real API server, with a real server under them.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { libraryController } from '#operator/library/controller.ts';
import { lookController } from '#operator/library/look.ts';
import { mediaRoots } from '#operator/media-server/desired/media.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import { hasStatus } from '#operator/runtime/faults.ts';
import { FINALIZER, type KubeObject } from '#operator/runtime/kube.ts';
import { Manager } from '#operator/runtime/manager.ts';
import { MERGE_PATCH, type Rest } from '#operator/runtime/rest.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { Servers } from '#operator/server-api/servers.ts';
import { type Api, startApi } from '#support/api.ts';
import { temporaryFolder } from '#support/stores.ts';
import { connected } from './runtime-kube.ts';
import { UP_MS } from './support/cluster.ts';
import { eventually } from './support/until.ts';

let rest: Rest;
let kubeconfig: string;
const GROUP = '/apis/foyer.media/v1alpha1';
const SERVER_ID = '01900000-0000-7000-8000-00000000000a';
const SPEC = {
  postgres: { managed: {} },
  redis: { managed: {} },
  objects: { managed: {} },
  media: [{ name: 'films', hostPath: { path: '/films' } }],
};

/** Between the operator and the server: counts requests, and can be unreachable. */
async function door(to: string) {
  const requests: string[] = [];
  const state = { open: true };
  const server: Server = createServer((request, response) => {
    if (!state.open) return void request.socket.destroy();
    requests.push(`${request.method} ${request.url?.replace('/api/v1', '')}`);
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { authorization = '', 'content-type': type } = request.headers;
      const headers = { authorization, ...(type && { 'content-type': type }) };
      const init = {
        method: request.method ?? 'GET',
        headers,
        ...(parts.length > 0 && { body: Buffer.concat(parts) }),
      };
      void fetch(to + request.url, init).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { requests, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe('Library resources', () => {
  const namespace = `lib-${process.pid}`;
  let api: Api;
  let way: Awaited<ReturnType<typeof door>>;
  let manager: Manager;
  let ended: Promise<boolean>;
  let stopping = new AbortController();

  const at = (name: string) => `${GROUP}/namespaces/${namespace}/libraries/${name}`;
  const read = (name: string) => rest.read<KubeObject>({ method: 'GET', path: at(name) });
  const create = (path: string, body: object) => rest.write<KubeObject>({ method: 'POST', path, body });
  const merge = (path: string, body: object) => rest.write({ method: 'PATCH', path, body, contentType: MERGE_PATCH });
  const gone = (name: string) =>
    read(name).then(
      () => false,
      (error: unknown) => hasStatus(error, 404),
    );
  const secret = (name: string, stringData: object) =>
    create(`/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData,
    });
  const library = (name: string, spec: object = {}) =>
    create(`${GROUP}/namespaces/${namespace}/libraries`, {
      apiVersion: 'foyer.media/v1alpha1',
      kind: 'Library',
      metadata: { name },
      spec: { serverRef: { name: 'home' }, type: 'movies', ...spec },
    });
  const writes = async () => (await manager.metrics.writes.get()).values.reduce((sum, { value }) => sum + value, 0);
  const condition = async (name: string, type: string) => {
    const { conditions = [] } = ((await read(name)).status ?? {}) as { conditions?: Record<string, string>[] };
    const found = conditions.find((entry) => entry.type === type);
    return found && `${found.status} ${found.reason}`;
  };
  const rows = () => api.deps.db('libraries').whereNull('deleted_at').select('*') as Promise<Record<string, unknown>[]>;
  const row = async (name: string) => (await rows()).find((one) => one.name === name);

  before(async () => {
    ({ rest, kubeconfig } = await connected());
    const roots = mediaRoots(MediaServerSpec.parse(SPEC), SERVER_ID).map((root) => ({
      ...root,
      path: temporaryFolder('films'),
    }));
    api = await startApi({ FOYER_MEDIA_ROOTS: JSON.stringify(roots) });
    way = await door(api.url);
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await secret('home-keys', { 'keys.json': JSON.stringify({ serverId: SERVER_ID }) });
    start();
  }).timeout(UP_MS);

  function start(): void {
    const servers = new Servers(way.url);
    manager = new Manager({
      credentials: new Credentials(kubeconfig),
      controllers: [libraryController(servers, { patienceMs: 3000 }), lookController(servers)],
      log: pino({ level: process.env.FOYER_LOG_LEVEL ?? 'silent' }),
      namespaces: [namespace],
    });
    stopping = new AbortController();
    ended = manager.run(stopping.signal);
  }

  after(async () => {
    way.state.open = false;
    stopping.abort();
    await ended;
    way.server.closeAllConnections();
    way.server.close();
    const { items } = await rest.read<{ items: KubeObject[] }>({ method: 'GET', path: at('').replace(/\/$/, '') });
    for (const { metadata } of items) await merge(at(metadata.name), { metadata: { finalizers: null } });
    await rest.write({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  });

  it('waits for its server, and reports the reason', async () => {
    await library('early');
    await eventually(async () => (await condition('early', 'Ready')) === 'Unknown ServerNotFound');
    const body = { apiVersion: 'foyer.media/v1alpha1', kind: 'MediaServer', metadata: { name: 'home' }, spec: SPEC };
    await create(`${GROUP}/namespaces/${namespace}/mediaservers`, body);
    await eventually(async () => (await condition('early', 'Ready')) === 'Unknown ServerNotReady');
    await secret('home-operator-key', { key: api.operatorKey });
    await eventually(async () => (await condition('early', 'Ready')) === 'True AllReady');
    expect((await row('early'))?.managed_by).to.include({ kind: 'Library', namespace, name: 'early' });
  });

  it('becomes a library with its folders, and people cannot change the declared members', async () => {
    await library('films', { displayName: 'Films', folders: [{ media: 'films' }], language: 'de' });
    await eventually(async () => (await condition('films', 'Synced')) === 'True InSync');
    const made = await row('Films');
    const { status, metadata } = await read('films');
    expect(status).to.include({ libraryId: made?.id, observedGeneration: 1 });
    expect(metadata.finalizers, 'its rows stay: nothing waits for them').to.equal(undefined);
    expect(await condition('films', 'FoldersAvailable')).to.match(/^True/);
    await merge(at('films'), { spec: { displayName: 'Movies' } });
    await eventually(async () => (await row('Movies'))?.id === made?.id);
    const owner = await api.given.owner();
    const refused = await api.as(owner).updateLibrary({ params: { id: String(made?.id) }, body: { name: 'Mine' } });
    expect(refused.status).to.equal(409);
  });

  it('names a media entry that the server does not have', async () => {
    await library('lost', { folders: [{ media: 'nothing' }] });
    await eventually(async () => (await condition('lost', 'Ready')) === 'False MediaUnknown');
    expect(await condition('lost', 'Stalled')).to.equal('True MediaUnknown');
  });

  it('requests a scan once a value of the annotation', async () => {
    const scans = () => way.requests.filter((line) => line.startsWith('POST') && line.endsWith('/scan')).length;
    const annotate = (name: string, annotations: object) => merge(at(name), { metadata: { annotations } });
    const answered = async (name: string) => ((await read(name)).status as { scanRequest?: string }).scanRequest;
    const before = scans();
    await annotate('films', { 'foyer.media/scan': 'one' });
    await eventually(async () => (await answered('films')) === 'one');
    await annotate('films', { other: 'x' });
    await annotate('early', { 'foyer.media/scan': 'of nothing' });
    await eventually(async () => (await answered('early')) === 'of nothing');
    expect(scans()).to.equal(before + 1);
  });

  it('creates its row again when it is deleted', async () => {
    await library('again');
    await eventually(async () => (await condition('again', 'Ready')) === 'True AllReady');
    await api.deps
      .db('libraries')
      .where({ id: (await row('again'))?.id })
      .update({ deleted_at: new Date() });
    // No change of the cluster announces it: the next list of all libraries finds it.
    await eventually(async () => (await row('again')) !== undefined, 120_000);
  });

  it('lets its row go, or deletes it, when the resource is deleted', async () => {
    await library('kept');
    await library('gone', { deletionPolicy: 'Delete' });
    for (const name of ['kept', 'gone'])
      await eventually(async () => (await condition(name, 'Ready')) === 'True AllReady');
    expect((await read('gone')).metadata.finalizers).to.deep.equal([FINALIZER]);
    for (const name of ['kept', 'gone']) await rest.write({ method: 'DELETE', path: at(name) });
    expect(await gone('kept')).to.equal(true);
    await eventually(() => gone('gone'));
    await eventually(async () => (await row('kept'))?.managed_by === null);
    expect(await row('gone')).to.equal(undefined);
  });

  it('is held as long as its policy requires', async () => {
    const finalizers = async () => (await read('changing')).metadata.finalizers ?? [];
    await library('changing', { deletionPolicy: 'Delete' });
    await eventually(async () => (await condition('changing', 'Ready')) === 'True AllReady');
    expect(await finalizers()).to.deep.equal([FINALIZER]);
    await merge(at('changing'), { spec: { deletionPolicy: 'Retain' } });
    await eventually(async () => (await finalizers()).length === 0);
  });

  it('releases its row also when the row was deleted while no operator ran, or none had access', async () => {
    for (const name of ['unseen', 'unasked']) {
      await library(name);
      await eventually(async () => (await condition(name, 'Ready')) === 'True AllReady');
    }
    way.state.open = false;
    await rest.write({ method: 'DELETE', path: at('unasked') });
    await sleep(1000);
    stopping.abort();
    await ended;
    await rest.write({ method: 'DELETE', path: at('unseen') });
    way.state.open = true;
    start();
    for (const name of ['unseen', 'unasked']) await eventually(async () => (await row(name))?.managed_by === null);
    expect((await row('changing'))?.managed_by, 'those of others stay').to.include({ name: 'changing' });
  });

  it('does not block a deletion for ever when the server is unreachable', async () => {
    await library('stuck', { deletionPolicy: 'Delete' });
    await eventually(async () => (await condition('stuck', 'Ready')) === 'True AllReady');
    way.state.open = false;
    await rest.write({ method: 'DELETE', path: at('stuck') });
    await sleep(1000);
    expect(await gone('stuck')).to.equal(false);
    await eventually(() => gone('stuck'));
    way.state.open = true;
    expect(await row('stuck')).to.not.equal(undefined);
    await eventually(async () => (await row('stuck'))?.managed_by === null, 60_000);
    const events = await rest.read<{ items: { reason: string }[] }>({
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/events`,
    });
    expect(events.items.map(({ reason }) => reason)).to.include('CleanupSkipped');
  });

  it('reports so while its server is unreachable, and reports nothing else of it', async () => {
    way.state.open = false;
    await eventually(async () => (await condition('films', 'Ready')) === 'Unknown ServerNotReady', 120_000);
    way.state.open = true;
    await eventually(async () => (await condition('films', 'Ready')) === 'True AllReady', 120_000);
  });

  it('costs one request for many libraries, and writes nothing at rest', async () => {
    const many = Array.from({ length: 150 }, (_, index) => `many-${index}`);
    for (const name of many) await library(name);
    const isThere = async (name: string) => (await condition(name, 'Ready')) === 'True AllReady';
    for (const name of many) await eventually(() => isThere(name), 60_000);
    await sleep(6000); // scans that were requested above are reported once more
    const before = { writes: await writes(), requests: way.requests.length };
    for (const name of many) await merge(at(name), { metadata: { annotations: { poke: 'x' } } });
    await sleep(12_000);
    expect(await writes()).to.equal(before.writes);
    const requests = way.requests.slice(before.requests);
    // a slow machine may still answer all of them from the list that it read before
    expect(requests.filter((request) => request !== 'GET /libraries')).to.deep.equal([]);
    expect(requests.length).to.be.at.most(4);
  });
}).timeout(300_000);

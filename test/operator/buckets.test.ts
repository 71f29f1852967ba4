// spec.media[].s3 through the real API and a real S3 server, with the operator's own key.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { bucketsIn, DeclaredBuckets, readBucketIds } from '#operator/declared/buckets.ts';
import { bucketsVerdict } from '#operator/declared/buckets-verdict.ts';
import { reconcileLibrary } from '#operator/library/library.ts';
import { parseText } from '#operator/local/documents.ts';
import { toResources } from '#operator/local/resources.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { type SendRequest, serverClient } from '#operator/server-api/server-client.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { PATIENCE } from '#support/patience.ts';
import { LOOPBACK, type RemotePlace, s3Place } from '#support/remote-places.ts';
import { ACCESS, SECRET } from '#support/s3.ts';
import { eventually } from '#support/stores.ts';
import { managed } from './media-server/specs.ts';

const HOME = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: '01900000-0000-7000-8000-00000000c0de' };
const LIBRARY = `apiVersion: foyer.media/v1alpha1
kind: Library
metadata: { name: films }
spec: { serverRef: { name: home }, type: movies, folders: [{ media: cloud, path: / }] }
`;

interface Entry {
  name: string;
  place: RemotePlace;
  more?: object;
  readOnly?: boolean;
}

describe('buckets of a MediaServer', function () {
  this.timeout(60_000);
  let api: Api;
  let admin: TestClient;
  let request: SendRequest;
  let writes: string[];
  let buckets: DeclaredBuckets;
  let keys: { accessKey?: string; secretKey?: string };
  let place: RemotePlace;
  before(async () => {
    api = await startApi(LOOPBACK);
    admin = api.as(await api.given.owner());
    const real = serverClient(api.url, api.operatorKey);
    request = async (method, path, body) => {
      if (method !== 'GET') writes.push(`${method} ${path.replace(/[0-9a-f-]{36}/, ':id')}`);
      return real(method, path, body);
    };
  });
  beforeEach(async () => {
    await api.deps.db('storages').delete();
    keys = { accessKey: ACCESS, secretKey: SECRET };
    buckets = new DeclaredBuckets(0);
    place = await s3Place();
    await place.put('Heat (1995)/Heat (1995).mkv', Buffer.from('film'));
  });

  const specOf = (entries: readonly Entry[]): MediaServerSpec =>
    MediaServerSpec.parse({
      ...managed,
      media: entries.map(({ name, place: { settings }, more, readOnly = true }) => {
        const { endpoint, bucket, prefix } = settings;
        return { name, readOnly, s3: { endpoint, bucket, prefix, secretRef: { name: 'keys' }, ...more } };
      }),
    });
  /** One pass; the condition, and the requests that changed something. */
  const pass = async (...entries: Entry[]) => {
    writes = [];
    const spec = specOf(entries);
    const observed = await buckets.pass({ request, buckets: bucketsIn(spec, () => keys), managedBy: HOME });
    const fault = bucketsVerdict(spec, observed);
    return { fault: fault && `${fault.status} ${fault.reason}: ${fault.message}`, writes };
  };
  const listed = async () => (await admin.listStorages()).body.items;

  it('become storages of their names that a person may rename and not remove; then nothing is written', async () => {
    const cloud = { name: 'cloud', place };
    expect((await pass(cloud)).fault).to.equal(undefined);
    const [storage] = await listed();
    expect(storage).to.deep.include({ name: 'cloud', kind: 's3', state: 'available', readOnly: true, managedBy: HOME });
    expect(storage?.settings).to.include({ ...place.settings });
    const params = { id: storage?.id ?? '' };
    expect((await admin.deleteStorage({ params })).status).to.equal(409);
    expect((await admin.updateStorage({ params, body: { name: 'Our bucket' } })).status).to.equal(200);
    for (const leader of [buckets, new DeclaredBuckets(0)]) {
      buckets = leader;
      expect(await pass(cloud)).to.deep.equal({ fault: undefined, writes: [] });
    }
    expect((await listed()).map(({ id, name }) => [id, name])).to.deep.equal([[params.id, 'Our bucket']]);
  });

  it('hold the folders of libraries, and are removed only when none uses them', async () => {
    const cloud = { name: 'cloud', place };
    await pass(cloud);
    const wanted = bucketsIn(specOf([cloud]), () => undefined);
    const ids = await readBucketIds(request, wanted, HOME);
    const [library] = toResources(parseText(LIBRARY, 'a.yaml')).resources.libraries;
    if (!library) throw new Error('no library');
    const made = await reconcileLibrary(
      library,
      {},
      {
        ...{ request, managedBy: { kind: 'Library', namespace: 'media', name: 'films', uid: 'films' } },
        mediaId: (name) => ids.get(name) ?? '',
        read: (id) => request('GET', `/libraries/${id}`),
        accounts: async () => ({ ids: [], unknown: [] }),
      },
    );
    expect(made.verdicts.find(({ type }) => type === 'FoldersAvailable')?.status).to.equal('True');
    expect((await pass()).fault).to.match(
      /^False ApiRefused: the storage cloud, .* no longer declared: 409 CONFLICT in-use/,
    );
    await request('DELETE', `/libraries/${made.status.libraryId}`);
    await api.deps.db('library_folders').delete();
    expect((await pass()).fault).to.equal(undefined);
    expect(await listed()).to.deep.equal([]);
    expect((await pass()).writes).to.deep.equal([]);
  });

  it('follow changed keys, options and places, and report what keeps the server from reading them', async () => {
    const cloud = { name: 'cloud', place };
    keys = { accessKey: ACCESS, secretKey: 'wrong' };
    const refused = /^False Unavailable: .*cloud \(unavailable, authentication-failed\)/;
    expect((await pass(cloud)).fault).to.match(refused);
    expect((await pass(cloud)).fault, 'until a check succeeds').to.match(refused);
    await api.deps.db('storages').update({ state: 'unavailable', reason: 'authentication-failed' }); // as a worker does
    keys = { accessKey: ACCESS, secretKey: SECRET };
    buckets = new DeclaredBuckets(0); // the Secret was corrected while no operator ran
    expect((await pass(cloud)).writes).to.deep.equal(['PATCH /storages/:id', 'POST /storages/:id/check']);
    await api.deps.db('storages').update({ state: 'available', reason: null });
    await eventually(async () => (await pass(cloud)).fault === undefined, 20_000);
    expect((await pass(cloud)).writes).to.deep.equal([]);
    await pass({ ...cloud, readOnly: false });
    expect((await listed())[0]?.readOnly).to.equal(false);
    keys = {};
    expect((await pass(cloud)).writes, 'without its Secret it stays').to.deep.equal([]);
    keys = { accessKey: ACCESS, secretKey: SECRET };
    const other = { name: 'cloud', place: await s3Place() };
    const { id } = (await listed())[0] ?? {};
    expect((await pass(other)).fault).to.equal(undefined);
    expect((await listed()).map((one) => [one.id, one.settings['bucket']])).to.deep.equal([
      [id, other.place.settings['bucket']],
    ]);
    expect((await pass(other, { name: 'again', place: other.place })).fault).to.match(/media again: .*duplicate/);
  });

  it('are kept by a resource that is applied again, with another uid, and by entries that swap their names', async () => {
    const other = await s3Place();
    await pass({ name: 'films', place }, { name: 'shows', place: other });
    const ids = (await listed()).map(({ id, settings }) => [id, settings['bucket']]);
    await api.deps.db('storages').update({ managed_by: JSON.stringify({ ...HOME, uid: 'of an earlier life' }) });
    buckets = new DeclaredBuckets(0);
    expect(await pass({ name: 'films', place: other }, { name: 'shows', place })).to.deep.equal({
      ...{ fault: undefined, writes: [] },
    });
    expect((await listed()).map(({ id, settings }) => [id, settings['bucket']])).to.have.deep.members(ids);
  });

  it('get their secret again whenever the bucket begins to refuse the saved one', async () => {
    const cloud = { name: 'cloud', place };
    await pass(cloud);
    await api.deps.db('storages').update({ state: 'unavailable', reason: 'authentication-failed' });
    buckets = new DeclaredBuckets(0);
    const real = request;
    request = async (method, path, body) => (method === 'PATCH' ? { status: 503, body: {} } : real(method, path, body));
    expect((await pass(cloud)).fault, 'it failed').to.match(/503/);
    request = real;
    expect((await pass(cloud)).writes, 'sent again').to.include('PATCH /storages/:id');
    await api.deps.db('storages').update({ state: 'available', reason: null });
    await pass(cloud);
    for (const state of ['unavailable', 'available', 'unavailable']) {
      const reason = state === 'available' ? null : 'authentication-failed';
      await api.deps.db('storages').update({ state, reason });
      const expected = state === 'available' ? [] : ['PATCH /storages/:id', 'POST /storages/:id/check'];
      expect((await pass(cloud)).writes, state).to.deep.equal(expected);
    }
    expect((await pass(cloud)).writes, 'once').to.not.include('PATCH /storages/:id');
  });

  it('do not wait for a bucket that does not answer', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1'); // answers nothing
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const dead = { name: 'dead', place, more: { endpoint: `http://127.0.0.1:${port}` } };
    const began = performance.now();
    for (const round of [1, 2]) {
      const { fault } = await pass(dead, { name: 'cloud', place });
      expect(fault, `round ${round}`).to.match(/^False Unavailable: .*media dead \(unavailable, timeout\)/);
    }
    expect(performance.now() - began).to.be.below(9000 * PATIENCE);
    expect((await listed()).map(({ name, state }) => [name, state])).to.deep.include(['cloud', 'available']);
    silent.close();
    for (const socket of sockets) socket.destroy();
  });

  it('take the name of a mount that became a bucket, and need nothing while an admin switched them off', async () => {
    const id = newId();
    const of = { managed_by: JSON.stringify(HOME), managed_fields: ['kind'] };
    await api.deps.db('storages').insert({ id, name: 'cloud', kind: 'mount', root_name: 'cloud', ...of });
    expect((await pass({ name: 'cloud', place })).fault).to.equal(undefined);
    const [storage] = await listed();
    expect(storage).to.include({ name: 'cloud', kind: 's3' });
    await admin.updateStorage({ params: { id: storage?.id ?? '' }, body: { enabled: false } });
    expect((await pass({ name: 'cloud', place })).fault).to.equal(undefined);
  });
});

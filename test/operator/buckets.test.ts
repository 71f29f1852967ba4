// spec.media[].s3 through the real API and a real S3 server, with the operator's own key.
import { expect } from 'chai';
import { bucketsIn, DeclaredBuckets, readBucketIds } from '#operator/declared/buckets.ts';
import { bucketsVerdict } from '#operator/declared/buckets-verdict.ts';
import { reconcileLibrary } from '#operator/library/library.ts';
import { parseText } from '#operator/local/documents.ts';
import { toResources } from '#operator/local/resources.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { type SendRequest, serverClient } from '#operator/server-api/server-client.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
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
    const ids = await readBucketIds(request, wanted, HOME.uid);
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
});

import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { FINALIZER } from '#operator/runtime/kube.ts';
import type { Condition } from '#operator/schemas/conditions.ts';
import { addedTunersController } from '#operator/tuner-device/added.ts';
import { tunerDeviceController } from '#operator/tuner-device/controller.ts';
import { TUNER_ROW } from '#operator/tuner-device/labels.ts';
import { ServerTuners } from '#operator/tuner-device/server-tuners.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { images, MemoryKube, mediaServer, secret } from '../media-server/support.ts';

const KEY = { namespace: 'media', name: 'tv' };
const SPEC = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
const ref = (name: string) => ({ secretKeyRef: { name, key: 'uri' } });
const NAMES = ['FOYER_DATABASE_URL', 'FOYER_REDIS_URL', 'FOYER_OBJECTS_URL', 'FOYER_BACKUP'];

/** As the controller of MediaServer makes it. */
const workers: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'home-workers', namespace: 'media', uid: 'workers-uid' },
  spec: {
    template: {
      spec: {
        containers: [
          {
            name: 'workers',
            env: [
              ...NAMES.map((name) => ({ name, valueFrom: ref('stores') })),
              { name: 'FOYER_KEYS_FILE', value: '/etc/foyer/keys/keys.json' },
              { name: 'FOYER_PORT', value: '8080' },
            ],
            volumeMounts: [
              { name: 'keys', mountPath: '/etc/foyer/keys', readOnly: true },
              { name: 'media-films', mountPath: '/media/films' },
            ],
          },
        ],
        volumes: [{ name: 'keys', secret: { secretName: 'home-keys' } }, { name: 'media-films' }],
      },
    },
  },
};

interface Container {
  env: { name: string; value?: string; valueFrom?: object }[];
  volumeMounts: { name: string }[];
}

describe('tuners of a cluster in their server', function () {
  this.timeout(60_000);
  let api: Api;
  let admin: Person;
  let kube: MemoryKube;
  let url: string;

  const device = (more: object = {}, metadata: object = {}): KubeObject => ({
    apiVersion: 'foyer.media/v1alpha1',
    kind: 'TunerDevice',
    metadata: { name: 'tv', namespace: 'media', uid: 'tv-uid', generation: 1, ...metadata },
    spec: {
      serverRef: { name: 'home' },
      source: { m3u: { url: 'http://tv.example/list.m3u', maxStreams: 2 } },
      ...more,
    },
  });
  const toolsAt = (pattern: string) => ({ images, servers: new ServerTuners(pattern), tunerUrl: 'http://127.0.0.1:9' });
  const pass = async (tools = toolsAt(url)) => tunerDeviceController(tools).reconcile(KEY, kube, new Date());
  const condition = (type: string): string | undefined => {
    const { conditions = [] } = (kube.get('TunerDevice', 'media', 'tv')?.status ?? {}) as { conditions?: Condition[] };
    const found = conditions.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}`;
  };
  const containerOf = (name: string): Container | undefined => {
    const { template } = (kube.get('Deployment', 'media', name)?.spec ?? {}) as {
      template?: { spec: { containers: Container[] } };
    };
    return template?.spec.containers[0];
  };
  const variables = (name: string) => new Map((containerOf(name)?.env ?? []).map((one) => [one.name, one] as const));
  const tuners = async () => (await api.as(admin).listTuners()).body.items;
  const guides = async () => (await api.as(admin).listGuideSources()).body.items;

  before(async () => {
    api = await startApi();
    admin = await api.given.admin();
    url = api.url.replace(/\/api\/v1$/, '');
    kube = new MemoryKube();
    kube.put(mediaServer(SPEC), workers, device());
    kube.put(secret('home-keys', { 'keys.json': JSON.stringify({ serverId: 'x', cursor: 'c' }) }));
    kube.put(secret('home-operator-key', { key: api.operatorKey }));
  });

  it('wait for a library of type livetv, and say so', async () => {
    await pass();
    expect(condition('Ready')).to.equal('False LibraryMissing');
    expect(await tuners()).to.deep.equal([]);
    expect(variables('tv-tuner').has('FOYER_TUNER_ID')).to.equal(false);
  });

  it('have a pod with the stores and the key ring of the server, and with nothing else of it', async () => {
    await api.as(admin).createLibrary({ body: { name: 'TV', type: 'livetv', folders: [] } });
    await pass();
    const [made, ...others] = await tuners();
    expect(others).to.deep.equal([]);
    expect(made).to.include({ name: 'tv', kind: 'm3u', slotCount: 2 });
    expect(made?.managedBy).to.include({ kind: 'TunerDevice', name: 'tv', uid: 'tv-uid' });
    const names = variables('tv-tuner');
    expect(names.get('FOYER_TUNER_ID')?.value).to.equal(made?.id);
    expect(names.get('FOYER_DATABASE_URL')?.valueFrom).to.deep.equal(ref('stores'));
    expect(names.get('FOYER_TUNER_SPACE')?.value).to.equal('/timeshift');
    expect(names.get('FOYER_PORT')?.value).to.equal('8081');
    expect(names.has('FOYER_BACKUP')).to.equal(false);
    const mounts = containerOf('tv-tuner')?.volumeMounts.map(({ name }) => name);
    expect(mounts).to.have.members(['tmp', 'timeshift', 'keys']);
    expect(condition('Synced')).to.equal('True InSync');
    expect(kube.get('TunerDevice', 'media', 'tv')?.metadata.finalizers).to.include(FINALIZER);
  });

  it('keep their pod as it is while the server or its workers are unavailable', async () => {
    const before = JSON.stringify(kube.get('Deployment', 'media', 'tv-tuner')?.spec);
    await pass(toolsAt('http://127.0.0.1:9'));
    expect(JSON.stringify(kube.get('Deployment', 'media', 'tv-tuner')?.spec)).to.equal(before);
    kube.drop('Deployment', 'home-workers');
    await pass();
    expect(JSON.stringify(kube.get('Deployment', 'media', 'tv-tuner')?.spec)).to.equal(before);
    kube.put(workers);
  });

  it('have the guide that the resource declares', async () => {
    const xmltv = { url: 'http://guide.example/tv.xml?password=canary' };
    kube.put(device({ guide: { xmltv, refresh: '15 4 * * *', days: 21 } }));
    const tools = toolsAt(url);
    await pass(tools);
    const [made, ...others] = await guides();
    expect(others).to.deep.equal([]);
    expect(made).to.include({ name: 'tv', kind: 'xmltv', refreshCron: '15 4 * * *', days: 21 });
    expect(made?.managedBy).to.include({ kind: 'TunerDevice', uid: 'tv-uid' });
    expect(JSON.stringify(made)).to.not.include('canary');
    kube.put(device({ guide: { device: true } }));
    await pass(toolsAt(url));
    expect((await guides()).map(({ kind }) => kind)).to.not.include('xmltv');
    kube.put(device());
    await pass(toolsAt(url));
    expect(await guides()).to.deep.equal([]);
  });

  it('show in their status how many channels are watched and how many recordings run', async () => {
    const { db } = api.deps;
    const [made] = await tuners();
    const tunerId = made?.id ?? '';
    const library_id = made?.libraryId ?? '';
    const [watched, recorded] = [newId(), newId()];
    for (const [slot, id] of [watched, recorded].entries()) {
      const names = { title: `${slot}`, sort_title: `${slot}`, identity_key: `${slot}` };
      await db('items').insert({ ...names, id, library_id, type: 'channel' });
      await db('live_channels').insert({ id, library_id, number: `${slot}`, number_order: slot, name: `${slot}` });
      await db('live_streams').insert({ id: newId(), channel_id: id, tuner_id: tunerId, slot, epoch: 0 });
    }
    const { accountId, profileId } = admin;
    await db('playback_sessions').insert({
      ...{ id: newId(), account_id: accountId, profile_id: profileId, item_id: watched, file_id: watched, library_id },
      ...{ method: 'direct_stream', decision: '{}', url: '', address: '127.0.0.1', is_remote: false },
    });
    const times = { start_at: new Date(), end_at: new Date(Date.now() + 60_000), start_pad_ms: 0, end_pad_ms: 0 };
    for (const title of ['One', 'Two'])
      await db('recordings').insert({
        ...{ id: newId(), channel_id: recorded, channel_name: 'Two', title, state: 'recording', library_id, ...times },
      });
    await pass();
    const status = () => kube.get('TunerDevice', 'media', 'tv')?.status as { live?: number; recording?: number };
    expect(status()).to.include({ live: 1, recording: 2 });
    for (const table of ['recordings', 'playback_sessions', 'live_streams'] as const) await db(table).delete();
    await pass();
    expect(status()).to.include({ live: 0, recording: 0 });
    await db('items').whereIn('id', [watched, recorded]).delete();
  });

  it('take later recordings into another library that their resource names since, once it is there', async () => {
    const { db } = api.deps;
    const [before] = await tuners();
    kube.put(device({ libraryRef: { name: 'archive' } }));
    const tools = toolsAt(url);
    await pass(tools);
    expect([condition('Synced'), condition('Ready')]).to.deep.equal(['False LibraryMissing', 'False Starting']);
    const own = api.as({ ...admin, headers: { Authorization: `Bearer ${api.operatorKey}` } });
    const managedBy = { kind: 'Library', namespace: 'media', name: 'archive', uid: 'archive-uid' };
    const { body: archive } = await own.createLibrary({
      body: { name: 'Archive', type: 'livetv', folders: [], managedBy },
    });
    await pass(toolsAt(url));
    expect(condition('Synced'), 'it has no folder').to.equal('False LibraryMissing');
    const folder = newId();
    await db('library_folders').insert({
      id: folder,
      library_id: archive.id,
      storage_id: api.given.storageId,
      path: 'archive',
    });
    await pass(toolsAt(url));
    expect(condition('Synced')).to.equal('True InSync');
    expect((await tuners())[0]).to.include({ libraryId: before?.libraryId, recordingsFolderId: folder });
    kube.put(device());
    await pass(toolsAt(url));
    expect((await tuners())[0]).to.not.have.property('recordingsFolderId');
  });

  it('that are added in the app have a pod until they are switched off', async () => {
    const [library] = (await api.as(admin).listLibraries()).body;
    const id = '01900000-0000-7000-8000-00000000cccc';
    await api.deps.db('live_tuners').insert({ id, library_id: library?.id ?? '', name: 'Added', kind: 'm3u' });
    const look = () =>
      addedTunersController(toolsAt(url)).reconcile({ namespace: 'media', name: 'home' }, kube, new Date());
    await look();
    const name = 'home-01900000-tuner';
    expect(variables(name).get('FOYER_TUNER_ID')?.value).to.equal(id);
    expect(kube.get('Deployment', 'media', name)?.metadata.labels).to.include({ [TUNER_ROW]: id });
    await api.deps.db('live_tuners').where({ id }).update({ enabled: false });
    await look();
    expect(kube.get('Deployment', 'media', name)).to.equal(undefined);
    expect(kube.get('Deployment', 'media', 'home-workers'), 'of another controller').to.not.equal(undefined);
    await api.deps.db('live_tuners').where({ id }).delete();
  });

  it('go with their resource; a server that does not answer delays that for ten minutes at most', async () => {
    const deleted = (minutesAgo: number) =>
      kube.put(
        device(
          {},
          {
            finalizers: [FINALIZER],
            deletionTimestamp: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
          },
        ),
      );
    const held = () => kube.get('TunerDevice', 'media', 'tv')?.metadata.finalizers?.includes(FINALIZER) === true;
    deleted(5);
    await pass(toolsAt('http://127.0.0.1:9'));
    expect(held()).to.equal(true);
    deleted(11);
    await pass(toolsAt('http://127.0.0.1:9'));
    expect(held()).to.equal(false);
    expect(kube.events.map(({ reason }) => reason)).to.deep.equal(['CleanupSkipped']);
    expect(await tuners()).to.have.lengthOf(1);
    deleted(0);
    await pass();
    expect(held()).to.equal(false);
    expect(await tuners()).to.deep.equal([]);
  });
});

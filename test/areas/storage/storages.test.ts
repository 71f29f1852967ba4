// Storages on media roots: created, tested, checked, moved and listed, and refusals.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { answerChecks } from '#areas/storage/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { LOOPBACK, webdavPlace } from '#support/remote-places.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { watchStorages } from '#workers/scan/watch/storages.ts';
import { readerPid } from '../../../api/areas/storage/mounts/pool.ts';

type Refusal = {
  error: {
    code: string;
    details: { reason?: string; issues?: { path: unknown[]; code: string }[] } & Record<string, unknown>;
  };
};
const details = ({ body }: { body: unknown }): Refusal['error']['details'] => (body as Refusal).error.details;

describe('storages', function () {
  this.timeout(60_000);
  let api: Api;
  let admin: Person;
  let media: string;
  before(async () => {
    media = join(temporaryFolder('storages'), 'media');
    mkdirSync(join(media, 'films/Inner'), { recursive: true });
    mkdirSync(join(media, 'music'));
    writeFileSync(join(media, 'films/a.mkv'), 'film');
    writeFileSync(join(media, 'music/b.mp3'), 'song');
    const roots = [{ id: newId(), name: 'big', path: media, readOnly: false }];
    api = await startApi({ ...LOOPBACK, FOYER_MEDIA_ROOTS: JSON.stringify(roots) });
    admin = await api.given.owner();
    await api.deps.db('storages').delete();
  });
  const create = (more: object) =>
    api
      .as(admin)
      .createStorage({ body: { name: newId(), kind: 'mount', settings: { root: 'big', path: 'films' }, ...more } });
  const made = async (more: object = {}) => {
    const { status, body } = await create(more);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const remove = (id: string) => api.as(admin).deleteStorage({ params: { id } });
  afterEach(() => api.deps.db('storages').delete());

  it('are created on a media root, one place only once', async () => {
    const films = await made({ name: 'films' });
    expect(films).to.deep.include({ state: 'available', readOnly: true, settings: { root: 'big', path: 'films' } });
    expect(existsSync(join(media, 'films/.foyer-storage')), 'nothing is written to a read-only one').to.equal(false);
    for (const [path, reason] of [
      ['films', 'duplicate-storage'],
      ['films/Inner', 'duplicate-storage'],
      ['', 'duplicate-storage'],
    ])
      expect(details(await create({ settings: { root: 'big', path } })), path).to.include({
        reason,
        storageId: films.id,
      });
    expect(details(await create({ name: 'FILMS', settings: { root: 'big', path: 'music' } })).reason).to.equal(
      'duplicate-name',
    );
    expect(
      (await create({ settings: { root: 'big', path: 'filmsy' } })).status,
      'another name, not a folder below',
    ).to.equal(409);
    await made({ settings: { root: 'big', path: 'music' } });
    expect((await remove(films.id)).status).to.equal(204);
    expect((await api.as(admin).getStorage({ params: { id: films.id } })).status).to.equal(404);
  });

  it('refuse every spelling of a path that leaves the root, everywhere a path is named', async () => {
    const { id } = await made();
    const ups = ['..', '../x', 'a/../..', './..', 'a/b/../../..', '/etc', '//etc', '/', 'a\0b', '\0', '..\0', 'x/..'];
    const wide = ups.flatMap((path) => [path, `films/${path}`, `${path}/films`, `./${path}`]);
    for (const path of wide.filter(
      (one) => one.startsWith('/') || one.includes('\0') || one.split('/').includes('..'),
    )) {
      const answers = await Promise.all([
        create({ settings: { root: 'big', path } }),
        api.as(admin).testStorage({ body: { kind: 'mount', settings: { root: 'big', path } } }),
        api.as(admin).relocateStorage({ params: { id }, body: { settings: { path }, dryRun: true } }),
        api.as(admin).updateStorage({ params: { id }, body: { settings: { path } } }),
        api.as(admin).listStorageEntries({ params: { id }, query: { path } }),
        api.as(admin).listHostEntries({ query: { root: 'big', path } }),
      ]);
      expect(
        answers.map(({ status }) => status),
        JSON.stringify(path),
      ).to.deep.equal([400, 400, 400, 400, 400, 400]);
    }
    symlinkSync('/etc', join(media, 'films/out'));
    expect((await api.as(admin).listStorageEntries({ params: { id }, query: { path: 'out' } })).status).to.equal(404);
    expect((await api.as(admin).listHostEntries({ query: { root: 'big', path: 'films/out' } })).status).to.equal(400);
    const { body } = await api.as(admin).listStorageEntries({ params: { id }, query: { kind: 'any' } });
    expect(body.items.find(({ name }) => name === 'out')).to.deep.include({ symlink: true, readable: false });
    rmSync(join(media, 'films/out'));
  });

  it('refuse addresses that no storage reaches, in every member that has one', async () => {
    const closed = await startApi({
      FOYER_CLUSTER_NETWORKS: '["10.96.0.0/12"]',
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
    });
    const owner = await closed.given.owner();
    const bucket = (host: string) => ({
      ...{ name: newId(), kind: 's3' as const, check: false, secrets: { secretAccessKey: 'b' }, readOnly: true },
      settings: { endpoint: `http://${host}:9000`, bucket: 'films', accessKeyId: 'a' },
    });
    const hosts = [
      ...['127.0.0.1', '127.1', '0x7f.1', '2130706433', '017700000001', '①②⑦.0.0.1', '0', '0.0.0.0', '169.254.169.254'],
      ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[fe80::1]', '[fd00:ec2::254]', '10.96.0.1', '[::ffff:10.96.0.1]'],
      ...['localhost', 'LOCALHOST.', 'a.localhost'],
    ];
    for (const host of ['10.97.0.7', 'minio.media.svc', 'minio.media.svc.cluster.local', '192.168.1.2'])
      expect((await closed.as(owner).createStorage({ body: bucket(host) })).status, host).to.equal(201);
    for (const host of ['10.97.0.7', 'api.foyer.svc', '192.168.1.2']) {
      const body = { name: newId(), kind: 'webdav' as const, settings: { url: `http://${host}/dav` } };
      const answer = await closed.as(owner).connectDrive({ body });
      expect(details(answer).issues?.[0]?.code, `a drive at ${host}`).to.equal('address_not_allowed');
    }
    for (const host of hosts) {
      const bare = host.replace(/^\[|\]$/g, '');
      const numeric = /^(0x|\d+\.\d+$|\d+$|0\d)/.test(bare) || /[①②]/.test(bare);
      const bodies = [
        { kind: 's3', settings: { endpoint: `http://${host}:9000`, bucket: 'films', accessKeyId: 'a' } },
        { kind: 'webdav', settings: { url: `http://${host}/dav` } },
        ...(numeric ? [] : [{ kind: 'sftp', settings: { host: bare, username: 'a' } }]),
      ];
      for (const body of bodies) {
        const answer = await closed.as(owner).createStorage({ body: { name: newId(), check: false, ...body } });
        expect(answer.status, `${host} ${body.kind}`).to.equal(400);
        expect(details(answer).issues?.[0]?.code, `${host} ${body.kind}`).to.equal('address_not_allowed');
      }
    }
    for (const url of [
      'http://ada:pass@dav.example/',
      'https://dav.example/?token=x',
      'file:///etc',
      'ftp://dav.example/',
    ]) {
      const answer = await closed
        .as(owner)
        .createStorage({ body: { name: 'x', kind: 'webdav', settings: { url }, check: false } });
      expect(details(answer).issues?.[0]?.code, url).to.equal('bad_address');
    }
  });

  it('keep secrets sealed, show none, and send them to no other host', async () => {
    const place = await webdavPlace();
    const { settings, secrets } = place;
    const dav = await made({ kind: 'webdav', settings, secrets, readOnly: false });
    expect(dav.secrets).to.deep.equal({ password: true });
    expect(await place.has('.foyer-storage'), 'a writable storage is marked').to.equal(true);
    const row = await api.deps.db('storages').where({ id: dav.id }).first();
    expect(JSON.stringify([dav, row])).to.not.include('canary');
    const test = (more: object) =>
      api.as(admin).testStorage({
        body: { kind: 'webdav', settings: { ...settings, readOnly: true, ...more }, storageId: dav.id },
      });
    expect((await test({})).body).to.include({ ok: true, state: 'available' });
    expect(details(await test({ url: 'https://elsewhere.example/dav' })).reason).to.equal('place-differs');
    const wrong = await api
      .as(admin)
      .updateStorage({ params: { id: dav.id }, body: { secrets: { password: 'wrong' } } });
    expect(details(wrong).reason).to.equal('check-failed');
    expect(details(wrong)['check']).to.deep.include({ ok: false, reason: 'authentication-failed' });
    const unchecked = { secrets: { password: null }, check: false };
    expect((await api.as(admin).updateStorage({ params: { id: dav.id }, body: unchecked })).body.secrets).to.deep.equal(
      { password: false },
    );
    await api.as(admin).updateStorage({ params: { id: dav.id }, body: { secrets, check: true } });
    expect((await remove(dav.id)).status).to.equal(204);
    await eventually(async () => !(await place.has('.foyer-storage')));
  });

  it('say step by step what a test found, and write only where they may', async () => {
    const tested = async (settings: object) =>
      (await api.as(admin).testStorage({ body: { kind: 'mount', settings: { root: 'big', ...settings } } })).body;
    const writing = await tested({ path: 'films' });
    expect(writing.steps.map(({ name }) => name)).to.include('write');
    expect(writing).to.include({ ok: true, state: 'available' });
    expect((await tested({ path: 'films', readOnly: true })).steps.map(({ name }) => name)).to.not.include('write');
    const absent = await tested({ path: 'none', readOnly: true });
    expect(absent).to.include({ ok: false, state: 'unavailable', reason: 'not-mounted' });
    expect(details(await create({ settings: { root: 'none' } })).issues?.[0]?.code).to.equal('unknown_root');
  });

  it('list folders a page at a time, and the roots of the server', async () => {
    const { id } = await made({ settings: { root: 'big' } });
    for (const name of ['c', 'd', 'e', '.hidden', 'lost+found']) mkdirSync(join(media, name), { recursive: true });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 2, sort: '-name', ...(cursor && { cursor }) };
      const { body } = await api.as(admin).listStorageEntries({ params: { id }, query });
      names.push(...body.items.map(({ name }) => name));
      if (!cursor) expect(body.page.total).to.equal(5);
      cursor = body.page.cursor ?? undefined;
    } while (cursor);
    expect(names).to.deep.equal(['music', 'films', 'e', 'd', 'c']);
    const { body } = await api.as(admin).listHostEntries({});
    expect(body.roots?.map(({ name, state, storageIds }) => [name, state, storageIds])).to.deep.equal([
      ['big', 'available', [id]],
    ]);
    expect(JSON.stringify(body)).to.not.include(media);
    const found = await api.as(admin).listHostEntries({ query: { root: 'big', q: 'MUS' } });
    expect(found.body.items.map(({ path }) => path)).to.deep.equal(['music']);
  });

  it('check from every process that answers', async () => {
    const { id } = await made();
    const stops = [answerChecks({ ...api.deps }, 'api'), answerChecks({ ...api.deps }, 'worker')];
    try {
      await eventually(async () => Number((await api.deps.redis.pubsub('NUMSUB', 'foyer:storage-check'))[1]) >= 2);
      const { body } = await api.as(admin).checkStorage({ params: { id } });
      expect(body).to.include({ ok: true, storageId: id });
      expect(body.pods?.map(({ role, ok }) => [role, ok])).to.include.deep.members([
        ['api', true],
        ['worker', true],
      ]);
      const again = await api.as(admin).checkStorage({ params: { id } });
      expect(again.body.at, 'callers share a result').to.equal(body.at);
    } finally {
      for (const stop of stops) stop();
    }
  });

  it('are relocated where the same files are found', async () => {
    const films = await made();
    const library = { id: newId(), folderId: newId() };
    const { db } = api.deps;
    await db('libraries').insert({ id: library.id, name: library.id, name_folded: library.id, type: 'movies' });
    await db('library_folders').insert({
      id: library.folderId,
      library_id: library.id,
      storage_id: films.id,
      path: '',
    });
    await db('items').insert({
      id: library.id,
      library_id: library.id,
      type: 'movie',
      identity_key: 'a',
      title: 'a',
      sort_title: 'a',
    });
    await db('media_files').insert({
      ...{
        id: newId(),
        item_id: library.id,
        library_id: library.id,
        folder_id: library.folderId,
        storage_id: films.id,
      },
      ...{ path: 'a.mkv', size_bytes: 4, modified_ms: 0 },
    });
    const move = (path: string, more: object = {}) =>
      api.as(admin).relocateStorage({ params: { id: films.id }, body: { settings: { path }, ...more } });
    const changed = await api
      .as(admin)
      .updateStorage({ params: { id: films.id }, body: { settings: { path: 'music' } } });
    expect(details(changed).reason).to.equal('use-relocate');
    expect(details(await move('music'))).to.deep.include({ reason: 'content-differs', matched: 0, missing: ['a.mkv'] });
    expect(details(await remove(films.id))).to.deep.include({
      reason: 'in-use',
      libraries: [{ id: library.id, name: library.id }],
    });
    mkdirSync(join(media, 'elsewhere'));
    writeFileSync(join(media, 'elsewhere/a.mkv'), 'film');
    expect((await move('elsewhere', { dryRun: true })).body).to.deep.include({ dryRun: true, checked: 1, matched: 1 });
    const { body } = await move('elsewhere');
    expect(body.storage).to.deep.include({ id: films.id, settings: { root: 'big', path: 'elsewhere' } });
    const used = await api.as(admin).getStorage({ params: { id: films.id }, query: { include: 'usage' } });
    expect(used.body.usage).to.deep.include({ files: 1, sizeBytes: 4 });
    await db('libraries').delete();
  });

  describe('on a disk that fails', () => {
    async function watched(
      work: (state: () => Promise<string>, id: string) => Promise<void>,
      more: object = {},
    ): Promise<void> {
      mkdirSync(join(media, 'disk/A'), { recursive: true });
      writeFileSync(join(media, 'disk/A/a.mkv'), 'film');
      const { id } = await made({ settings: { root: 'big', path: 'disk' }, ...more });
      const stop = new AbortController();
      const state = async (): Promise<string> => {
        const { body } = await api.as(admin).getStorage({ params: { id } });
        return [body.state, body.reason].filter(Boolean).join(' ');
      };
      const watching = watchStorages(api.deps, stop.signal, { lookMs: 50 });
      try {
        await work(state, id);
      } finally {
        stop.abort();
        await watching;
        rmSync(join(media, 'disk'), { recursive: true, force: true });
        rmSync(join(media, 'disk.away'), { recursive: true, force: true });
      }
    }

    it('another disk under the path is suspect until a person accepts it', () =>
      watched(
        async (state, id) => {
          const marker = (): { epoch: number } =>
            JSON.parse(readFileSync(join(media, 'disk/.foyer-storage'), 'utf8')) as { epoch: number };
          expect(marker()).to.include({ epoch: 1, storage: id });
          renameSync(join(media, 'disk'), join(media, 'disk.away'));
          await eventually(async () => (await state()) === 'unavailable not-mounted');
          mkdirSync(join(media, 'disk/B'), { recursive: true });
          await eventually(async () => (await state()) === 'suspect marker-missing');
          const accept = (reason: string) =>
            api.as(admin).setStorageIdentity({ params: { id }, body: { accept: reason } });
          expect(details(await accept('marker-differs')).reason).to.equal('reason-changed');
          expect((await accept('marker-missing')).body).to.include({ state: 'available' });
          expect(marker()).to.include({ epoch: 2, storage: id });
          expect(details(await accept('marker-missing')).reason).to.equal('not-suspect');
          writeFileSync(join(media, 'disk/.foyer-storage'), '{"foyer":1,"server":"x","storage":"y","epoch":1}');
          await eventually(async () => (await state()) === 'suspect marker-differs');
        },
        { readOnly: false },
      ));

    it('another disk under the path of one that is switched on again is suspect at once', async () => {
      mkdirSync(join(media, 'disk/A'), { recursive: true });
      const { id } = await made({ settings: { root: 'big', path: 'disk' }, readOnly: false });
      const turn = async (enabled: boolean): Promise<unknown[]> => {
        const { body } = await api.as(admin).updateStorage({ params: { id }, body: { enabled } });
        return [body.state, body.reason];
      };
      const emitted = async (): Promise<string[]> =>
        (await api.deps
          .db('outbox')
          .where('event', 'like', 'system.storage.%')
          .orderBy('seq')
          .pluck('event')) as string[];
      await api.deps.db('outbox').delete();
      expect(await turn(false)).to.deep.equal(['disabled', undefined]);
      renameSync(join(media, 'disk'), join(media, 'disk.other'));
      mkdirSync(join(media, 'disk/B'), { recursive: true });
      expect(await turn(true)).to.deep.equal(['suspect', 'marker-missing']);
      expect(await emitted(), 'the outage goes on').to.deep.equal(['system.storage.unavailable']);
      await turn(false);
      rmSync(join(media, 'disk'), { recursive: true });
      renameSync(join(media, 'disk.other'), join(media, 'disk'));
      expect(await turn(true)).to.deep.equal(['available', undefined]);
      expect(await emitted()).to.deep.equal(['system.storage.unavailable', 'system.storage.available']);
      rmSync(join(media, 'disk'), { recursive: true });
    });

    it('a reader that hangs makes the mount unavailable, and a new one serves it again', () =>
      watched(async (state) => {
        const pid = await eventually(async () => readerPid(media, 'disk'));
        process.kill(pid, 'SIGSTOP');
        const list = await api.as(admin).listHostEntries({ query: { root: 'big' } });
        expect(list.status, 'other mounts answer').to.equal(200);
        await eventually(async () => {
          const now = readerPid(media, 'disk');
          return now !== undefined && now !== pid && (await state()) === 'available';
        }, 30_000);
      }));
  });
});

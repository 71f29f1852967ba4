// Storages that become unavailable and return, and scans that wait for one another.
import { mkdir, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { requestScan } from '#areas/scanning/public.ts';
import { newId } from '#platform/ids.ts';
import { eventually } from '#support/stores.ts';
import { begin } from '#workers/scan/engine/record.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { spindlesOf } from '#workers/scan/engine/spindles.ts';
import { watchStorages } from '#workers/scan/watch/storages.ts';
import { Postponed, type Work } from '#workers/work.ts';
import { newPlace, type Place } from './support.ts';

const DAY_MS = 86_400_000;

describe('watchStorages', function () {
  this.timeout(60_000);

  /** A storage of its own, with one library on it and one film. */
  async function newStorage(): Promise<{ place: Place; id: string; root: string; deps: Work }> {
    const place = await newPlace('movies', { scanCron: '0 0 1 1 *' });
    const { db } = place.api.deps;
    const id = newId();
    const name = `root-${id.slice(-8)}`;
    const root = join(place.api.mediaRoot, '..', name);
    await mkdir(root);
    await db('storages').insert({ id, name, root_name: name });
    await db('library_folders').where({ id: place.folderId }).update({ storage_id: id, path: '' });
    const work = place.work();
    const deps = { ...work, config: { ...work.config, mediaRoots: [{ id, name, path: root, readOnly: true }] } };
    await place.put(`../../${name}/A (2001)/A (2001).mkv`);
    const { id: scanId } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    await scanLibrary({ libraryId: place.libraryId, scanId }, deps, { settleMs: 0 });
    expect(await place.files()).to.have.length(1);
    return { place, id, root, deps };
  }

  const emitted = async ({ api }: Place, id: string): Promise<string[]> =>
    (
      await api.deps
        .db('outbox')
        .whereRaw(`payload ->> 'storageId' = ?`, [id])
        .orderBy('seq')
        .select<{ event: string }[]>('event')
    ).map(({ event }) => event);

  it('announces a storage that is lost, holds the clocks, and scans it when it is back and stays', async () => {
    const { place, id, root, deps } = await newStorage();
    const { db } = place.api.deps;
    const stop = new AbortController();
    const state = async (): Promise<string> => (await db('storages').where({ id }).first('state')).state;
    const options = { lookMs: 100, quietMs: 1000 };
    const both = [watchStorages(deps, stop.signal, options), watchStorages(deps, stop.signal, options)];
    try {
      await rename(root, `${root}.away`);
      await eventually(async () => (await state()) === 'unavailable');
      await mkdir(root);
      await eventually(async () => (await state()) === 'suspect');
      await rm(root, { recursive: true });
      const since = new Date(Date.now() - DAY_MS);
      await db('media_files')
        .where({ storage_id: id })
        .update({ missing_since: new Date(since.getTime() - DAY_MS) });
      await db('items')
        .where({ library_id: place.libraryId })
        .update({ missing_since: new Date(since.getTime() - DAY_MS), availability: 'missing' });
      await eventually(async () => (await state()) === 'unavailable');
      await db('storages').where({ id }).update({ state_since: since }); // a day ago
      await rename(`${root}.away`, root);
      await eventually(async () => (await state()) === 'available');
      const [item] = await db('items')
        .where({ library_id: place.libraryId })
        .select<{ missing_since: Date }[]>('missing_since');
      expect(item?.missing_since.getTime()).to.be.closeTo(since.getTime(), 60_000);
      const queued = await eventually(() =>
        db('scans').where({ library_id: place.libraryId, state: 'queued' }).first(),
      );
      expect(queued).to.include({ trigger: 'storage-returned', mode: 'quick', targets: null });
      expect(await emitted(place, id)).to.deep.equal(['system.storage.unavailable', 'system.storage.available']);
    } finally {
      stop.abort();
      await Promise.all(both);
    }
  });

  it('announces a folder that is unavailable while its storage is available, and scans it when it is back', async () => {
    const { place, id, root, deps } = await newStorage();
    const { api, libraryId } = place;
    const { db } = api.deps;
    await mkdir(join(root, 'films'));
    await rename(join(root, 'A (2001)'), join(root, 'films/A (2001)'));
    await db('library_folders').where({ id: place.folderId }).update({ storage_id: id, path: 'films' });
    await db('media_files').where({ folder_id: place.folderId }).update({ path: 'films/A (2001)/A (2001).mkv' });
    const admin = api.as(await api.given.admin());
    const states = async (): Promise<string> => {
      const { body } = await admin.getLibrary({ params: { id: libraryId } });
      return `${body.state} ${body.folders.map((folder) => folder.state).join()}`;
    };
    const stop = new AbortController();
    const watching = watchStorages(deps, stop.signal, { lookMs: 50 });
    try {
      await rename(join(root, 'films'), join(root, 'elsewhere'));
      await eventually(async () => (await states()) === 'unavailable unavailable');
      await mkdir(join(root, 'films')); // a mount that is not mounted
      await eventually(async () => (await db('storages').where({ id }).first('state')).state === 'available');
      expect(await states()).to.equal('unavailable unavailable');
      await rm(join(root, 'films'), { recursive: true });
      await rename(join(root, 'elsewhere'), join(root, 'films'));
      await eventually(async () => (await states()).endsWith(' available'));
      const queued = await db('scans').where({ library_id: libraryId, state: 'queued' }).first();
      expect(queued).to.deep.include({ trigger: 'storage-returned', mode: 'quick' });
    } finally {
      stop.abort();
      await watching;
    }
  });

  it('believes most of the workers', async () => {
    const { place, id, root, deps } = await newStorage();
    const { db, redis } = place.api.deps;
    const say = async (pod: string, seen: string): Promise<unknown> =>
      redis.hset(`foyer:storage-seen:${id}`, pod, JSON.stringify({ seen, reason: null, at: Date.now() + 30_000 }));
    await say('others-1', 'available');
    await say('others-2', 'available');
    await rename(root, `${root}.away`);
    const stop = new AbortController();
    const watching = watchStorages(deps, stop.signal, { lookMs: 50 });
    try {
      await eventually(async () => (await redis.hexists(`foyer:storage-seen:${id}`, deps.config.pod)) === 1);
      for (let look = 0; look < 10; look += 1) await say('others-1', 'available');
      expect(await db('storages').where({ id }).first('state')).to.deep.equal({ state: 'available' });
      await say('others-2', 'unavailable');
      await eventually(async () => (await db('storages').where({ id }).first('state')).state === 'unavailable');
    } finally {
      stop.abort();
      await watching;
    }
  });
});

describe('scans at once', function () {
  this.timeout(60_000);

  /** Of tests that killed a worker or left one in the middle. */
  beforeEach(async () => {
    const { db } = (await newPlace('movies')).api.deps;
    await db('scans')
      .where({ state: 'running' })
      .update({ lease_until: new Date(0) });
  });

  const running = async ({ api }: Place, row: object): Promise<string> => {
    const other = await newPlace('movies');
    const { db } = api.deps;
    const { id } = await requestScan(db, { libraryId: other.libraryId, mode: 'full', trigger: 'person' });
    const until = db.raw(`now() + interval '1 minute'`);
    await db('scans')
      .where({ id })
      .update({ state: 'running', lease_until: until, ...row });
    return id;
  };
  const end = async ({ api }: Place, ids: readonly string[]): Promise<unknown> =>
    api.deps.db('scans').whereIn('id', ids).update({ state: 'completed' });
  const attempt = async (place: Place, id: string, work: Work): Promise<unknown> =>
    scanLibrary({ libraryId: place.libraryId, scanId: id }, work, { settleMs: 0 }).catch((error: unknown) => error);

  it('are as many on the whole server as the setting permits; more wait and are no attempt', async () => {
    const place = await newPlace('movies');
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    const others = [await running(place, {}), await running(place, {})];
    try {
      const postponed = await attempt(place, id, place.work());
      expect(postponed).to.be.instanceOf(Postponed).and.include({ waitsFor: 'slot' });
      expect(await db('scans').where({ id }).first('state')).to.deep.equal({ state: 'queued' });
      await db('scans')
        .where({ id: others[0] })
        .update({ lease_until: new Date(0) }); // its worker is gone
      const emitted: unknown[] = [];
      const report: Work['report'] = async (_db, units) => void emitted.push(units);
      expect(await attempt(place, id, { ...place.work(), report })).to.equal(undefined);
      expect(emitted.at(-1)).to.deep.equal({ done: 0, total: 0, unit: 'files' });
      expect(await db('scans').where({ id }).first('state')).to.deep.equal({ state: 'completed' });
    } finally {
      await end(place, others);
    }
  });

  it('are one on a disk that turns', async () => {
    const place = await newPlace('movies');
    const { db } = place.api.deps;
    const { id } = await requestScan(db, { libraryId: place.libraryId, mode: 'full', trigger: 'person' });
    const others = [await running(place, { spindles: ['here:sdx'] })];
    const beginning = { scanId: id, token: newId(), spindles: new Map([[place.folderId, 'here:sdx']]) };
    try {
      expect(await begin(place.work(), beginning)).to.include({ state: 'waiting', waitsFor: 'storage' });
      const elsewhere = new Map([[place.folderId, 'there:sdx']]);
      expect((await begin(place.work(), { ...beginning, spindles: elsewhere })).state).to.equal('running');
    } finally {
      await end(place, [...others, id]);
    }
  });

  it('knows which disks turn', async () => {
    const devices = await mkdtemp(join(tmpdir(), 'foyer-devices-'));
    const place = await newPlace('movies');
    try {
      const { dev } = await stat(place.path);
      const [major, minor] = [(dev >>> 8) & 0xfff, (dev & 0xff) | ((dev >>> 12) & 0xfff00)];
      await mkdir(join(devices, 'sdx/sdx1'), { recursive: true });
      await mkdir(join(devices, 'sdx/queue'));
      await symlink(join(devices, 'sdx/sdx1'), join(devices, `${major}:${minor}`));
      const folder = { id: place.folderId, storageId: newId(), path: '', root: place.path };
      const of = async (turns: string): Promise<unknown> => {
        await writeFile(join(devices, 'sdx/queue/rotational'), turns);
        return Object.fromEntries(await spindlesOf([folder], { node: 'here', devices }));
      };
      expect(await of('1\n')).to.deep.equal({ [place.folderId]: 'here:sdx' });
      expect(await of('0\n')).to.deep.equal({});
      await rename(join(devices, 'sdx'), join(devices, 'vdx'));
      await rm(join(devices, `${major}:${minor}`));
      await symlink(join(devices, 'vdx/sdx1'), join(devices, `${major}:${minor}`));
      await writeFile(join(devices, 'vdx/queue/rotational'), '1\n');
      expect(await spindlesOf([folder], { node: 'here', devices })).to.have.property('size', 0);
    } finally {
      await rm(devices, { recursive: true });
    }
  });
});

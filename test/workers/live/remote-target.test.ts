// Recordings whose library lies on a remote storage, with real servers.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { readerById, type StorageReader } from '#areas/storage/public.ts';
import { newId } from '#platform/ids.ts';
import { listParts, PARTS_BUCKET, partKey } from '#platform/live/parts.ts';
import type { Objects } from '#platform/objects.ts';
import { startApi, type TestClient } from '#support/api.ts';
import { LOOPBACK, type RemotePlace, remotePlaces } from '#support/remote-places.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { broadcast } from '#support/tuner-box.ts';
import { finishLiveRecording } from '#workers/live/finish/finish.ts';
import type { PlacedFile } from '#workers/live/finish/notes.ts';
import { giveItem } from '#workers/live/recorder/item.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { Postponed, type Work } from '#workers/work.ts';
import { newPlace, type Place } from '../scan/support.ts';

const PART_MS = 8000;
const PARTS = 3;

const withGet = (objects: Objects, get: Objects['get']): Objects =>
  new Proxy(objects, { get: (its, name) => (name === 'get' ? get : Reflect.get(its, name).bind(its)) });

interface Kept {
  checkpoint: unknown;
}

for (const [kind, start] of Object.entries(remotePlaces)) {
  describe(`a recording on ${kind}`, function () {
    this.timeout(120_000);
    let there: RemotePlace;
    let place: Place;
    let owner: TestClient;
    let storageId: string;
    let reader: StorageReader;
    let headers: Record<string, string>;
    const scratch = (): string => join(place.api.config.scratchDir, 'recordings');

    before(async () => {
      there = await start();
      await there.put('television/Theirs.mkv', Buffer.from('theirs'));
      const api = await startApi(LOOPBACK);
      const person = await api.given.owner();
      headers = person.headers;
      owner = api.as(person);
      const { settings, secrets } = there;
      const made = await owner.createStorage({ body: { name: kind, kind, settings, secrets, readOnly: false } });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      storageId = made.body.id;
      place = await newPlace('livetv', {}, api);
      await rm(place.path, { recursive: true });
      const body = { folders: [{ storageId, path: 'television' }] };
      expect((await owner.updateLibrary({ params: { id: place.libraryId }, body })).status).to.equal(200);
      reader = (await readerById(api.deps, storageId)) as StorageReader;
    });

    const db = () => place.api.deps.db;
    const row = async (id: string): Promise<RecordingRow> => {
      const found = await db()('recordings').where({ id }).first();
      if (!found) throw new Error('no row');
      return found;
    };
    const names = async (): Promise<string[]> =>
      (await reader.list('television', { most: 100 })).entries.map(({ name }) => name).sort();
    /** A recording that has ended, with its parts in the object store. */
    async function recorded(title: string): Promise<string> {
      const [id, now] = [newId(), Date.now()];
      const startMs = now - PARTS * PART_MS;
      await db()('recordings').insert({
        ...{ id, channel_name: 'One', title, start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId },
        ...{ start_at: new Date(startMs), end_at: new Date(now), started_at: new Date(startMs), state: 'recording' },
      });
      await giveItem(place.work(), { id });
      const bytes = broadcast('h264');
      for (let at = 0; at < PARTS; at += 1) {
        const times = { startMs: startMs + at * PART_MS, durationMs: PART_MS };
        const part = { sequence: at + 1, bytes: bytes.length, ...times, epoch: 1, discontinuity: 0, streamId: newId() };
        await place.api.deps.objects.put(PARTS_BUCKET, partKey(id, part), bytes);
      }
      const ended = { state: 'completed' as const, ended_at: new Date(now), recorded_ms: PARTS * PART_MS };
      await db()('recordings').where({ id }).update(ended);
      return id;
    }
    const remove = async (id: string): Promise<void> => {
      await owner.deleteRecording({ params: { id }, query: { deleteFile: true } });
      expect((await row(id)).state).to.equal('cancelled');
    };
    const workOf = (kept: Kept): Work => {
      const keep: Work['keep'] = async (_db, checkpoint) => {
        kept.checkpoint = structuredClone(checkpoint);
      };
      return { ...place.work(), keep, checkpoint: kept.checkpoint };
    };
    /** Runs the job, with its scans, until it ends; it keeps its checkpoint. */
    async function finish(id: string, kept: Kept = { checkpoint: null }): Promise<boolean> {
      for (let round = 0; round < 6; round += 1) {
        try {
          await finishLiveRecording({ recordingId: id }, workOf(kept));
          return true;
        } catch (error) {
          if (!(error instanceof Postponed)) throw error;
          const queued = await db()('scans').where({ library_id: place.libraryId, state: 'queued' }).first('id');
          if (!queued) return false;
          await scanLibrary({ libraryId: place.libraryId, scanId: queued.id }, place.work(), { settleMs: 0 });
        }
      }
      return false;
    }

    it('becomes a whole file there and an item that plays', async () => {
      const id = await recorded('Evening');
      expect(await finish(id)).to.equal(true);
      const done = await row(id);
      expect(done.cleared_at).to.not.equal(null);
      expect(await listParts(place.api.deps, id)).to.deep.equal([]);
      const name = done.file_path ?? '';
      expect(name).to.match(/^Evening - .*\.mkv$/);
      expect(await names()).to.deep.equal([name, 'Theirs.mkv'].sort());
      const files = await db()('media_files').where({ item_id: done.item_id }).select('path', 'duration_ms');
      expect(files.map(({ path }) => path)).to.deep.equal([`television/${name}`]);
      expect(files[0]?.duration_ms).to.be.within(PARTS * PART_MS - 500, PARTS * PART_MS + 500);
      const { size = 0 } = (await reader.stat(`television/${name}`)) ?? {};
      const copy = join(temporaryFolder('remote-recording'), 'copy.mkv');
      await writeFile(copy, await reader.read(`television/${name}`, { start: 0, length: size }));
      execFileSync('ffmpeg', ['-v', 'quiet', '-i', copy, '-f', 'null', '-']); // throws where it cannot be played
      const { status, body } = await owner.startPlayback({
        params: { id: done.item_id ?? '' },
        body: { client: { builtIn: 'chromium' } },
      } as never);
      expect(status, JSON.stringify(body)).to.equal(201);
      expect((await place.api.fetch(body.session.url, { headers })).status).to.equal(200);
      expect(existsSync(scratch())).to.equal(false);
    });

    it('waits while the storage is unavailable, and never replaces a file', async () => {
      const id = await recorded('Morning');
      await db()('storages').where({ id: storageId }).update({ state: 'unavailable' });
      const kept: Kept = { checkpoint: null };
      expect(await finish(id, kept)).to.equal(false);
      expect(kept.checkpoint).to.have.property('since');
      expect(await listParts(place.api.deps, id)).to.have.lengthOf(PARTS);
      await db()('storages').where({ id: storageId }).update({ state: 'available' });
      const first = await recorded('Morning');
      expect([await finish(first), await finish(id, kept)]).to.deep.equal([true, true]);
      const [one, two] = [await row(first), await row(id)];
      expect(one.file_path).to.not.equal(two.file_path);
      expect(await names()).to.include.members([one.file_path, two.file_path]);
    });

    it('takes two of the places that it shares with interactive jobs, and no third', async () => {
      const ids = [await recorded('Dusk'), await recorded('Dusk'), await recorded('Dusk')];
      const [third = '', ...two] = ids;
      const gate = Promise.withResolvers<void>();
      let held = 0;
      const keep = async (): Promise<void> => {
        held += 1;
        await gate.promise;
      };
      const attempt = (recordingId: string, work: Work): Promise<unknown> =>
        finishLiveRecording({ recordingId }, work).catch((error: unknown) => error);
      const running = two.map((id) => attempt(id, { ...place.work(), keep }));
      await eventually(async () => held === 2);
      const refused = await attempt(third, place.work());
      gate.resolve();
      await Promise.all(running);
      expect(refused).to.be.instanceOf(Postponed).and.include({ waitsFor: 'slot' });
      expect(await finish(third)).to.equal(true);
    });

    it('keeps its folder of drafts when another recording ends', async () => {
      const [slow, quick] = [await recorded('Slow'), await recorded('Quick')];
      const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { objects } = place.api.deps;
      const get: Objects['get'] = async (...of) => {
        reached.resolve();
        await gate.promise;
        return objects.get(...of);
      };
      const work = { ...place.work(), objects: withGet(objects, get) };
      const running = finishLiveRecording({ recordingId: slow }, work).catch((error: unknown) => error);
      await reached.promise;
      const done = await finish(quick);
      gate.resolve();
      expect([done, await running]).to.satisfy(([one, two]: unknown[]) => one === true && two instanceof Postponed);
    });

    it('leaves no file when it is deleted while its file is written', async () => {
      const [id, before] = [await recorded('Unwanted'), await names()];
      const kept: Kept = { checkpoint: null };
      const { keep, ...work } = workOf(kept);
      const deleting: Work['keep'] = async (db, checkpoint) => {
        await keep(db, checkpoint);
        await remove(id);
      };
      const failed = await finishLiveRecording({ recordingId: id }, { ...work, keep: deleting }).catch(
        (error) => error,
      );
      expect(failed).to.be.instanceOf(Postponed);
      expect(await finish(id, kept)).to.equal(true);
      expect(await names()).to.deep.equal(before);
    });

    it('leaves no unfinished file when it is deleted after its worker died', async () => {
      const [id, before] = [await recorded('Unfinished'), await names()];
      const pending = await there.parts?.pending();
      const [name, path] = ['Unfinished.mkv', 'television/Unfinished.mkv'];
      const own = await there.parts?.begin(path);
      await there.put(`television/.foyer-recording-${id}`, Buffer.from('half'));
      await mkdir(join(scratch(), id), { recursive: true });
      await writeFile(join(scratch(), id, 'of-a-former-try.mkv'), 'half');
      await db()('recordings').where({ id }).update({ file_path: name, cleared_at: new Date() });
      await remove(id);
      const file = { path: name, size: 1, sha256: '', appeared: false };
      expect(await finish(id, { checkpoint: { file, ...(own && { parts: { path, id: own } }) } })).to.equal(true);
      expect(await names()).to.deep.equal(before);
      expect(await there.parts?.pending()).to.deep.equal(pending);
      expect(existsSync(scratch())).to.equal(false);
    });

    it('is another file than the one that got its name before its worker was stopped', async () => {
      const [theirs, id] = [await recorded('Night'), await recorded('Night')];
      expect(await finish(theirs)).to.equal(true);
      const { file_path: name, file_folder_id: folder } = await row(theirs);
      await db()('recordings').where({ id }).update({ file_path: name, file_folder_id: folder });
      const file = { path: name, size: 1, sha256: '', appeared: false };
      expect(await finish(id, { checkpoint: { file } })).to.equal(true);
      const own = (await row(id)).file_path;
      expect(own).to.not.equal(name);
      expect(await names()).to.include.members([name, own]);
    });

    it('finds its own file again after its worker was stopped, by size and bytes', async () => {
      const kept: Kept = { checkpoint: null };
      const id = await recorded('Dawn');
      const stopped = async (): Promise<void> => {
        const attempt = finishLiveRecording({ recordingId: id }, workOf(kept));
        expect(await attempt.catch((error: unknown) => error)).to.be.instanceOf(Postponed);
        (kept.checkpoint as { file: PlacedFile }).file.appeared = false;
      };
      const own = async (): Promise<string> => (await row(id)).file_path ?? '';
      await stopped();
      const first = await own();
      await stopped();
      expect(await own()).to.equal(first);
      const { size = 0 } = (await reader.stat(`television/${first}`)) ?? {};
      await there.put(`television/${first}`, Buffer.alloc(size));
      expect(await finish(id, kept)).to.equal(true);
      expect(await own()).to.not.equal(first);
    });

    it('waits as for an unavailable storage when other bytes arrive than announced', async () => {
      const [id, before] = [await recorded('Changed'), await names()];
      const keep = async (): Promise<void> => {
        const drafts = await readdir(join(scratch(), id)).catch(() => []); // it is noted again later
        for (const name of drafts) await writeFile(join(scratch(), id, name), 'other', { flag: 'r+' });
      };
      const failed = await finishLiveRecording({ recordingId: id }, { ...place.work(), keep }).catch((error) => error);
      expect(failed).to.be.instanceOf(Postponed).and.include({ waitsFor: 'storage' });
      expect(await names()).to.deep.equal(before);
    });

    it('is one file after its worker died while it wrote', async () => {
      const id = await recorded('Noon');
      const before = await names();
      const path = 'television/Noon.mkv';
      const [own, theirs] = [await there.parts?.begin(path), await there.parts?.begin(path)];
      await there.put(`television/.foyer-recording-${id}`, Buffer.from('half'));
      await mkdir(join(scratch(), id), { recursive: true });
      await writeFile(join(scratch(), id, 'of-a-former-try.mkv'), 'half');
      expect(await finish(id, { checkpoint: own ? { parts: { path, id: own } } : null })).to.equal(true);
      if (kind === 's3') await reader.remove(`television/.foyer-recording-${id}`); // buckets have no drafts
      expect((await names()).filter((name) => !before.includes(name))).to.deep.equal([(await row(id)).file_path]);
      expect((await there.parts?.pending()) ?? []).to.deep.equal(theirs ? [theirs] : []);
      expect(await readdir(scratch()).catch(() => [])).to.deep.equal([]);
    });

    if (kind !== 's3')
      it('is not joined while its server is unreachable', async () => {
        const id = await recorded('Late');
        there.stop?.();
        let read = 0;
        const { objects } = place.api.deps;
        const get: Objects['get'] = (...of) => {
          read += 1;
          return objects.get(...of);
        };
        const work = { ...place.work(), objects: withGet(objects, get) };
        const failed = await finishLiveRecording({ recordingId: id }, work).catch((error: unknown) => error);
        expect(failed).to.be.instanceOf(Postponed).and.include({ waitsFor: 'storage' });
        expect(read).to.equal(0);
      });
  });
}

// Uploads into libraries on remote storages, with real servers.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import sharp from 'sharp';
import { Altered, type Listed, readerById, type StorageReader, Unsent } from '#areas/storage/public.ts';
import type { UploadRow } from '#areas/uploads/public.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { LOOPBACK, type RemotePlace, remotePlaces, webdavPlace } from '#support/remote-places.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { arrive } from '#workers/uploads/arrive.ts';
import { finishUpload } from '#workers/uploads/finish.ts';
import { isPlacedRemotely, placeRemotely } from '#workers/uploads/remote.ts';
import { Postponed } from '#workers/work.ts';
import { newUploadPlace, type UploadPlace } from './support.ts';

const photo = (side = 20): Promise<Buffer> =>
  sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
    .withMetadata({ exif: { IFD2: { DateTimeOriginal: '2020:06:01 12:00:00' } } })
    .png({ compressionLevel: 0 })
    .toBuffer();

for (const [kind, start] of Object.entries(remotePlaces)) {
  describe(`upload.finish on ${kind}`, function () {
    this.timeout(120_000);
    let api: Api;
    let admin: Person;
    let there: RemotePlace;
    let place: UploadPlace;
    let reader: StorageReader;
    let storageId: string;
    let folderId: string;

    before(async () => {
      there = await start();
      await there.put('photos/2020/06/a.png', Buffer.from('theirs'));
      api = await startApi(LOOPBACK);
      admin = await api.given.owner();
      const { settings, secrets } = there;
      const made = await api
        .as(admin)
        .createStorage({ body: { name: kind, kind, settings, secrets, readOnly: false } });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      storageId = made.body.id;
      place = await newUploadPlace(api);
      await rm(place.path, { recursive: true });
      const body = { folders: [{ storageId, path: 'photos' }] };
      const changed = await api.as(admin).updateLibrary({ params: { id: place.libraryId }, body });
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
      folderId = (await api.deps.db('library_folders').where({ library_id: place.libraryId }).first('id'))?.id ?? '';
      reader = (await readerById(api.deps, storageId)) as StorageReader;
    });

    const names = async (): Promise<string[]> =>
      (await reader.list('photos/2020/06', { most: 100 })).entries.map(({ name }) => name).sort();
    const read = async (name: string, size: number): Promise<Buffer> =>
      reader.read(`photos/2020/06/${name}`, { start: 0, length: size });
    const outcomeOf = (id: string): Promise<string> =>
      finishUpload({ uploadId: id }, place.work()).then(
        () => 'done',
        (error: Error) => error.message,
      );
    const items = (): Promise<unknown[]> => api.deps.db('items').where({ library_id: place.libraryId, type: 'photo' });

    it('makes one item and one file, and never writes over a file', async () => {
      const bytes = await photo();
      const id = await place.send({ name: 'a.png', bytes });
      const sent = await place.finish(id);
      expect(sent).to.include({ state: 'finished' });
      expect(await names()).to.deep.equal(['a-2.png', 'a.png']);
      expect((await read('a-2.png', bytes.length)).equals(bytes)).to.equal(true);
      expect((await read('a.png', 100)).toString()).to.equal('theirs');
      const item = await api.deps
        .db('items')
        .where({ id: sent.itemId ?? '' })
        .first();
      expect(item).to.include({ added_by: place.member.accountId, type: 'photo' });
      expect(await api.deps.objects.stat('foyer-uploads', `uploads/${id}`)).to.equal(undefined);
      const again = await place.finish(await place.send({ name: 'b.png', bytes }));
      expect(again).to.include({ state: 'duplicate', itemId: sent.itemId });
    });

    it('leaves one file and one item after a worker died at any step', async () => {
      const { db } = api.deps;
      const before = await names();
      const known = await items();
      const bytes = await photo();
      const id = await place.send({ name: 'k.png', bytes });
      // It died while it wrote: into another month, and before its directory was right.
      const draft = `.foyer-upload-${id}`;
      await there.put(`photos/2019/01/${draft}`, bytes.subarray(0, 100));
      const path = 'photos/2019/01/k.png';
      const [own, theirs] = [await there.parts?.begin(path), await there.parts?.begin(path)];
      await db('uploads')
        .where({ id })
        .update({ state: 'importing', folder_id: folderId, path, placing_parts: own ?? null });
      if (kind !== 's3') await there.put(`photos/2020/06/${draft}`, bytes.subarray(0, 100));
      await place.finish(id);
      expect(await names()).to.deep.equal([...before, 'k.png']);
      expect(await there.has(`photos/2019/01/${draft}`)).to.equal(false);
      expect((await there.parts?.pending()) ?? []).to.deep.equal(theirs ? [theirs] : []);
      // It died after the file had its name, before a scan.
      await db('uploads').where({ id }).update({ state: 'importing', ended_at: null, item_id: null });
      expect(await place.finish(id)).to.include({ state: 'finished' });
      await finishUpload({ uploadId: id }, place.work());
      expect(await names()).to.deep.equal([...before, 'k.png']);
      expect((await read('k.png', bytes.length)).equals(bytes)).to.equal(true);
      expect(await items()).to.have.lengthOf(known.length + 1);
    });

    it('places a file of several chunks while its worker stops in the middle once', async () => {
      const { objects } = api.deps;
      const bytes = await photo(2000); // 12 MB
      const [answer] = await place.announce([{ name: 'large.png', bytes }]);
      const id = answer?.upload?.id ?? '';
      for (const at of [0, 1])
        expect((await place.chunk(id, at, bytes.subarray(at * (8 << 20), (at + 1) * (8 << 20)))).status).to.equal(200);
      const stop = new AbortController();
      const stopping = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
        for await (const piece of body) {
          yield piece;
          stop.abort(new Error('stopped'));
        }
      };
      let reads = 0;
      const get: typeof objects.get = async (...given) => {
        const body = await objects.get(...given);
        if (given[2]) return body; // the probe
        reads += 1;
        return reads === 2 ? Readable.from(stopping(body as AsyncIterable<Buffer>), { objectMode: false }) : body;
      };
      const work = { ...place.work(stop.signal), objects: { ...objects, get } };
      const pending = async (): Promise<string[]> => (await there.parts?.pending()) ?? [];
      const before = await pending();
      const outcome = await finishUpload({ uploadId: id }, work).then(String, String);
      expect(outcome).to.match(/stopped/);
      const row = await api.deps.db('uploads').where({ id }).first('placing_parts');
      expect(row?.placing_parts, 'noted before the first part').to.be.a(kind === 's3' ? 'string' : 'null');
      await eventually(async () => (await pending()).length === before.length);
      expect(await names()).to.not.include('large.png');
      expect(await place.finish(id)).to.include({ state: 'finished' });
      expect((await names()).filter((name) => /large|upload/.test(name))).to.deep.equal(['large.png']);
    });

    /** What a worker that died while it wrote the file leaves behind. */
    async function dead(name: string, writing = true): Promise<{ id: string; isTidy: () => Promise<boolean> }> {
      const id = await place.send({ name, bytes: await photo() });
      const path = `photos/2018/02/${name}`;
      const [draft, parts] = [`photos/2018/02/.foyer-upload-${id}`, await there.parts?.begin(path)];
      await there.put(draft, Buffer.from('half'));
      await api.deps
        .db('uploads')
        .where({ id })
        .update({
          ...{ state: 'importing', folder_id: folderId, path, writing },
          ...{ sha256: '0'.repeat(64), placing_parts: parts ?? null },
        });
      const isTidy = async (): Promise<boolean> =>
        !(await there.has(draft)) && !((await there.parts?.pending()) ?? []).includes(parts ?? '');
      return { id, isTidy };
    }
    const cancel = async (id: string): Promise<number> =>
      (await place.as.cancelUpload({ params: { id } } as never)).status;
    const queued = (id: string): Promise<unknown[]> =>
      api.deps
        .db('jobs')
        .where({ key: `upload.finish:${id}` })
        .whereIn('state', ['waiting', 'delayed']);

    it('is cancelled while the file is written, and not once it has its name', async () => {
      const { objects } = api.deps;
      const id = await place.send({ name: 'c.png', bytes: await photo(200) });
      const cancelling = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
        let last: Buffer | undefined; // a server may end the file with it
        for await (const piece of body) {
          if (last) yield last;
          last = piece;
        }
        expect(await cancel(id)).to.equal(204);
        if (last) yield last;
      };
      let reads = 0;
      const get: typeof objects.get = async (...given) => {
        const body = await objects.get(...given);
        if (given[2]) return body; // the probe
        reads += 1;
        return reads === 2 ? Readable.from(cancelling(body as AsyncIterable<Buffer>), { objectMode: false }) : body;
      };
      await finishUpload({ uploadId: id }, { ...place.work(), objects: { ...objects, get } });
      expect(reads).to.equal(2);
      expect(await place.read(id)).to.include({ state: 'cancelled' });
      expect((await names()).filter((name) => /^c|upload/.test(name))).to.deep.equal([]);
      const whole = await place.send({ name: 'whole.png', bytes: await photo() });
      const waits = await finishUpload({ uploadId: whole }, place.work()).then(String, (error: Error) => error.message);
      expect(waits, 'for the scan').to.equal('postponed');
      expect(await cancel(whole)).to.equal(409);
      expect(await place.finish(whole)).to.include({ state: 'finished' });
    });

    it('is cancelled after its worker died right before the file had its name', async () => {
      const { objects, db } = api.deps;
      const { id, isTidy } = await dead('named.png', false);
      await db('uploads').where({ id }).update({ sha256: null });
      expect(await cancel(id)).to.equal(409);
      const answers: number[] = [];
      const get: typeof objects.get = async (...given) => {
        answers.push(await cancel(id));
        return objects.get(...given);
      };
      await finishUpload({ uploadId: id }, { ...place.work(), objects: { ...objects, get } });
      expect(answers[0]).to.equal(204);
      expect(await place.read(id)).to.include({ state: 'cancelled' });
      expect(await isTidy()).to.equal(true);
    });

    it('leaves no part of a file whose worker died, when it is cancelled or the person lost the access', async () => {
      const { db } = api.deps;
      const one = await dead('one.png');
      expect(await cancel(one.id)).to.equal(204);
      expect(await queued(one.id)).to.have.lengthOf(1);
      await finishUpload({ uploadId: one.id }, place.work());
      expect(await one.isTidy()).to.equal(true);
      const two = await dead('two.png');
      await db('accounts').where({ id: place.member.accountId }).update({ role: 'guest' });
      await finishUpload({ uploadId: two.id }, place.work());
      await db('accounts').where({ id: place.member.accountId }).update({ role: 'member' });
      expect(await db('uploads').where({ id: two.id }).first()).to.include({ error_reason: 'access-lost' });
      expect(await queued(two.id)).to.have.lengthOf(1);
      await finishUpload({ uploadId: two.id }, place.work());
      expect(await two.isTidy()).to.equal(true);
    });

    it('knows a file that was lost, one that was changed, and one that was changed under its name', async () => {
      const { db } = api.deps;
      const id = await place.send({ name: 'lost.png', bytes: await photo() });
      const sent = await db('uploads').where({ id }).first();
      const sha256 = await arrive(place.work(), sent as UploadRow);
      const folder = { id: folderId, storageId, path: 'photos' };
      const placing = async (own: Partial<StorageReader>): Promise<string> => {
        const row = { ...(await db('uploads').where({ id }).first()), sha256 } as UploadRow;
        const top = { folder, reader: { ...reader, ...own } };
        const done = own.stat ? isPlacedRemotely(top, row) : placeRemotely(place.work(), row, { top, wanted: {} });
        return (done as Promise<unknown>).then(String, (error: Error) => `${error.constructor.name}: ${error.message}`);
      };
      const others = async (): Promise<Readable> => Readable.from([randomBytes(sent?.size_bytes ?? 0)]);
      expect(
        await placing({
          place: (path, file, way) => reader.place?.(path, { ...file, open: others }, way) as Promise<void>,
        }),
      ).to.match(/^Changed: /);
      expect((await names()).filter((name) => /^lost|upload/.test(name))).to.deep.equal([]);
      const occupying = async (path: string): Promise<void> => {
        await there.put(path, Buffer.from('theirs'));
        throw new Unsent('the storage holds other bytes than were sent');
      };
      expect(await placing({ place: occupying }), 'the file at the path is another one').to.match(/^Changed: /);
      expect((await read('lost.png', 100)).toString()).to.equal('theirs');
      const changed = async (...given: Parameters<NonNullable<StorageReader['place']>>): Promise<void> => {
        await reader.place?.(...given);
        throw new Altered('the storage holds another size than was sent');
      };
      expect(await placing({ place: changed })).to.equal('Unfit: checksum-mismatch');
      const lost = async (path: string): Promise<Listed | undefined> => {
        const found = await reader.stat(path);
        await reader.remove(path);
        return found;
      };
      expect(await placing({ stat: lost })).to.equal('StorageGone: the file was lost');
    });

    it('keeps to its file when the storage changes it after it got its name', async () => {
      const id = await place.send({ name: 'exif.png', bytes: await photo() });
      expect(await outcomeOf(id)).to.equal('postponed');
      const changed = await photo(30);
      await there.put('photos/2020/06/exif.png', changed);
      expect(await place.finish(id)).to.include({ state: 'finished' });
      expect((await names()).filter((name) => /^exif|upload/.test(name))).to.deep.equal(['exif.png']);
      expect((await read('exif.png', changed.length)).equals(changed)).to.equal(true);
    });

    it('ends after five files that the storage lost after they got their names', async () => {
      const id = await place.send({ name: 'moved.png', bytes: await photo() });
      for (let round = 1; round <= 5; round += 1) {
        expect(await outcomeOf(id), 'places it').to.equal('postponed');
        expect(await there.has('photos/2020/06/moved.png')).to.equal(true);
        await reader.remove('photos/2020/06/moved.png');
        expect(await outcomeOf(id), 'does not place it at once').to.equal(round < 5 ? 'postponed' : 'done');
        expect(await there.has('photos/2020/06/moved.png')).to.equal(false);
      }
      expect(await place.read(id)).to.include({ state: 'failed', errorReason: 'checksum-mismatch' });
    });

    it('ends at once when the stored object was damaged after it arrived', async () => {
      const { db, objects } = api.deps;
      const [bytes, other] = [await photo(), await photo()];
      expect(other).to.have.lengthOf(bytes.length);
      const id = await place.send({ name: 'damaged.png', bytes });
      await arrive(place.work(), (await db('uploads').where({ id }).first()) as UploadRow);
      await objects.put('foyer-uploads', `uploads/${id}`, other);
      expect(await outcomeOf(id)).to.equal('done');
      expect(await place.read(id)).to.include({ state: 'failed', errorReason: 'corrupt' });
      expect((await names()).filter((name) => /^damaged|upload/.test(name))).to.deep.equal([]);
    });

    it('waits while the storage does not answer, and refuses one that is read-only', async () => {
      const change = async (body: object): Promise<void> => {
        const { status } = await api
          .as(admin)
          .updateStorage({ params: { id: storageId }, body: { ...body, check: false } });
        expect(status).to.equal(200);
      };
      const wrong = Object.fromEntries(Object.keys(there.secrets).map((key) => [key, 'canary-wrong']));
      const id = await place.send({ name: 'w.png', bytes: await photo() });
      await change({ secrets: wrong });
      expect(await place.finish(id)).to.include({ errorReason: 'storage-away' });
      await change({ secrets: there.secrets });
      expect(await place.finish(id)).to.include({ state: 'finished' });
      await change({ readOnly: true });
      const files = [{ name: 'r.png', sizeBytes: 10 }];
      const refused = await place.as.createUploads({ body: { libraryId: place.libraryId, files } } as never);
      expect(refused.status).to.equal(409);
      expect(refused.body).to.have.nested.property('error.details.reason', 'no-upload-folder');
    });
  });
}

describe('upload.finish on a WebDAV server that changes the files that it gets', function () {
  this.timeout(120_000);
  let api: Api;
  let there: RemotePlace;
  let place: UploadPlace;
  let puts = 0;
  let changes = true;
  let meanwhile: () => Promise<void> = async () => undefined;

  async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
    const body = await buffer(incoming);
    if (incoming.method !== 'PUT') return body;
    puts += 1;
    await meanwhile();
    return changes ? Buffer.concat([body.subarray(0, -1), Buffer.from([~(body.at(-1) ?? 0)])]) : body;
  }

  before(async () => {
    there = await webdavPlace();
    await there.put('photos/a.txt', Buffer.from('a'));
    const { hostname, port } = new URL(String(there.settings['url']));
    const server = createServer((incoming, answer) => {
      const { method, url: path, headers } = incoming;
      const passed = request({ hostname, port, method, path, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 500, found.headers);
        found.pipe(answer);
      });
      void bodyOf(incoming).then((body) => passed.end(body));
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    atEnd(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/dav`;
    api = await startApi(LOOPBACK);
    const admin = await api.given.owner();
    const { secrets } = there;
    const settings = { ...there.settings, url };
    changes = false; // a check of a storage writes too
    const made = await api
      .as(admin)
      .createStorage({ body: { name: 'changing', kind: 'webdav', settings, secrets, readOnly: false } });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    place = await newUploadPlace(api);
    await rm(place.path, { recursive: true });
    const body = { folders: [{ storageId: made.body.id, path: 'photos' }] };
    const changed = await api.as(admin).updateLibrary({ params: { id: place.libraryId }, body });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
  });

  beforeEach(() => {
    changes = true;
    puts = 0;
    meanwhile = async () => undefined;
  });

  /** Milliseconds until the next try; undefined when the upload ended. */
  async function pauseOf(id: string): Promise<number | undefined> {
    try {
      await finishUpload({ uploadId: id }, place.work());
      return undefined;
    } catch (error) {
      if (!(error instanceof Postponed)) throw error;
      return error.runAt.getTime() - Date.now();
    }
  }

  it('tries five times in pauses that double, and ends', async () => {
    const id = await place.send({ name: 'x.png', bytes: await photo() });
    for (const minutes of [1, 2, 4, 8]) {
      expect(await pauseOf(id)).to.be.within(minutes * 60_000 - 5000, minutes * 60_000);
      const { state, errorReason } = await place.read(id);
      expect([state, errorReason], 'the storage answers').to.deep.equal(['importing', undefined]);
    }
    expect(await pauseOf(id)).to.equal(undefined);
    expect(await place.read(id)).to.include({ state: 'failed', errorReason: 'checksum-mismatch' });
    expect(puts).to.equal(5);
    expect(await there.has('photos/2020/06/x.png')).to.equal(false);
    expect(await there.has(`photos/2020/06/.foyer-upload-${id}`)).to.equal(false);
  });

  it('takes no file of another for its own, and goes on once files stay as they are', async () => {
    const id = await place.send({ name: 'y.png', bytes: await photo() });
    meanwhile = () => there.put('photos/2020/06/y.png', Buffer.from('theirs'));
    expect(await pauseOf(id)).to.be.above(50_000);
    expect(await place.read(id)).to.include({ state: 'importing' });
    changes = false;
    meanwhile = async () => undefined;
    expect(await place.finish(id)).to.include({ state: 'finished' });
    expect(await there.has('photos/2020/06/y-2.png')).to.equal(true);
  });
});

// Films and photos on remote storages: scanned, probed and played from real servers.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { requestScan } from '#areas/scanning/public.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { LOOPBACK, type RemotePlace, remotePlaces } from '#support/remote-places.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { firstFile, openFile } from '#workers/artwork/local.ts';
import { frameOf } from '#workers/artwork/still.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { TranscodeWorker } from '#workers/transcode/worker.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace, type Place, type StoredScan, seen } from './support.ts';

const NAME = 'A (2001)/A (2001).mkv';

for (const [kind, start] of Object.entries(remotePlaces)) {
  describe(`a library on ${kind}`, function () {
    this.timeout(120_000);
    let api: Api;
    let admin: Person;
    let there: RemotePlace;
    let place: Place;
    let storageId: string;

    const scan = async (): Promise<StoredScan> => {
      const { libraryId } = place;
      const { id } = await requestScan(api.deps.db, { libraryId, mode: 'full', trigger: 'person' });
      await scanLibrary({ libraryId, scanId: id }, place.work(), { settleMs: 0 });
      return seen(api, id);
    };

    before(async () => {
      const folder = temporaryFolder('remote-films');
      await mkdir(join(folder, 'A (2001)'));
      await copyFile(join((await fixtures()).made, 'h264-base.mkv'), join(folder, NAME));
      await writeFile(
        join(folder, 'A (2001)/movie.nfo'),
        '<movie><title>Named inside</title><year>2001</year></movie>',
      );
      await writeFile(join(folder, 'A (2001)/A (2001).en.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHello there\n');
      there = await start(folder);
      api = await startApi(LOOPBACK);
      admin = await api.given.owner();
      const { settings, secrets } = there;
      const made = await api.as(admin).createStorage({ body: { name: kind, kind, settings, secrets } });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      storageId = made.body.id;
      place = await newPlace('movies', {}, api);
      await rm(place.path, { recursive: true });
      const body = { folders: [{ storageId, path: '' }] };
      const changed = await api.as(admin).updateLibrary({ params: { id: place.libraryId }, body });
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
      const worker = new TranscodeWorker({ ...api.deps, encoder: SOFTWARE, threads: 1 });
      worker.start();
      atEnd(() => worker.stop());
    });

    it('is scanned: the film is probed, its NFO and subtitles are read', async () => {
      const done = await scan();
      expect(done.folders).to.have.length(1);
      expect(done.folders[0], JSON.stringify(done)).to.include({ state: 'listed', files: 3 });
      const [file] = await place.files();
      expect(file).to.deep.include({ path: NAME, probe_fault: null });
      expect(file?.duration_ms).to.be.above(1000);
      const [item] = await place.items();
      expect(item).to.include({ title: 'Named inside', year: 2001 });
      const again = await scan();
      expect(again.counts).to.include({ unchanged: 1, updated: 0, added: 0 });
    });

    it('plays the bytes of the file in ranges, and converted', async () => {
      const [file] = await place.files();
      const whole = await readFile(join((await fixtures()).made, 'h264-base.mkv'));
      const headers = { ...admin.headers, range: `bytes=100-${whole.length - 50}` };
      const part = await api.fetch(`/api/v1/files/${file?.id}/stream`, { headers });
      expect(part.status).to.equal(206);
      expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100, whole.length - 49))).to.equal(true);
      const body = { client: { builtIn: 'hls' } };
      const started = await api
        .as(admin)
        .startPlayback({ params: { id: file?.item_id ?? '' }, body: { client: body.client } });
      expect(started.status, JSON.stringify(started.body)).to.equal(201);
      const segment = await firstSegment(api, admin, started.body.session.url);
      expect(segment.byteLength).to.be.above(1000);
    });

    it('gives a frame to the artwork', async () => {
      const [item] = await place.items();
      const row = await firstFile(place.work(), item?.id ?? '');
      const address = row && (await openFile(place.work(), row));
      expect(address).to.match(/^http:\/\/127\.0\.0\.1:/);
      const probe = row?.probe;
      if (!probe || !address) throw new Error('no film');
      const frame = await frameOf(
        { file: address, probe },
        { positionMs: 1000, key: false },
        AbortSignal.timeout(20_000),
      );
      expect(frame?.subarray(0, 3).toString('hex')).to.equal('ffd8ff');
    });

    it('marks nothing missing while the server is down', async () => {
      if (!there.stop) return;
      there.stop();
      const done = await scan();
      expect(done.folders[0]?.state).to.equal('skipped');
      expect((await place.files())[0]?.missing_since).to.equal(null);
    });
  });
}

/** The first segment of the first variant of a stream. */
async function firstSegment(api: Api, { headers }: Person, url: string): Promise<ArrayBuffer> {
  const read = async (path: string): Promise<string> => {
    const response = await api.fetch(path, { headers });
    expect(response.status, path).to.equal(200);
    return response.text();
  };
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const resolved = (from: string, name: string): string => {
    const { pathname, search } = new URL(name, `http://any.example${from}`);
    return pathname + search;
  };
  const [variant = ''] = lines(await read(url));
  const playlist = resolved(url, variant);
  const [segment = ''] = lines(await read(playlist));
  const response = await api.fetch(resolved(playlist, segment), { headers });
  expect(response.status).to.equal(200);
  return response.arrayBuffer();
}

// A bucket that is deleted while a scan lists it, and comes back: the scan marks no file as missing, and the storage says why.
import { appendFile, copyFile, mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Client } from 'minio';
import { requestScan } from '#areas/scanning/public.ts';
import { observeStorage } from '#areas/storage/public.ts';
import { bucketClient } from '#platform/objects.ts';
import { type Api, startApi } from '#support/api.ts';
import { LOOPBACK, s3Place } from '#support/remote-places.ts';
import { ACCESS, SECRET } from '#support/s3.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { watchStorages } from '#workers/scan/watch/storages.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace, type Place, type StoredScan, seen } from './support.ts';

const FILMS = 12;
/** Requests of a scan before the bucket goes: the root and some folders are listed by then. */
const LISTED = 6;
const FOREIGN = 'library/Other (2002)/Other (2002).mkv';

interface Bucket {
  /** With every object that it has. */
  remove(): Promise<void>;
  makeEmpty(): Promise<void>;
  /** Made again with a film that was not in it. */
  fill(): Promise<void>;
  /** The bucket and its objects, as they were before `remove`. */
  bringBack(): Promise<void>;
}

function bucketOf(client: Client, name: string): Bucket {
  const objects = new Map<string, Buffer>();
  const keys = async (): Promise<string[]> => {
    const found = client.listObjectsV2(name, '', true) as AsyncIterable<{ name: string }>;
    return (await Array.fromAsync(found)).map(({ name: key }) => key);
  };
  const isThere = (): Promise<boolean> => client.bucketExists(name);
  const makeEmpty = async (): Promise<void> => {
    if (!(await isThere())) await client.makeBucket(name);
  };
  return {
    async remove() {
      for (const key of await keys()) objects.set(key, await buffer(await client.getObject(name, key)));
      await client.removeObjects(name, [...objects.keys()]);
      await client.removeBucket(name);
      await eventually(async () => !(await isThere()));
    },
    makeEmpty,
    async fill() {
      await makeEmpty();
      await client.putObject(name, FOREIGN, Buffer.from('other'));
    },
    async bringBack() {
      await makeEmpty();
      await client.removeObject(name, FOREIGN);
      for (const [key, bytes] of objects) await client.putObject(name, key, bytes);
    },
  };
}

/** Passes requests on to the store; the work given to `after` runs before the request of that count. */
async function passing(
  port: number,
): Promise<{ endpoint: string; after: (count: number, what: () => Promise<void>) => void }> {
  let left = 0;
  let what: (() => Promise<void>) | undefined;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    left -= 1;
    if (left === 0) await what?.();
    const { method, url, headers } = incoming;
    const forwarded = send({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.once('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  };
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atEnd(() => void server.close());
  const after = (count: number, work: () => Promise<void>): void => {
    [left, what] = [count, work];
  };
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, after };
}

for (const readOnly of [true, false])
  describe(`a ${readOnly ? 'read-only' : 'writable'} bucket that is gone during a scan`, function () {
    this.timeout(120_000);
    let api: Api;
    let place: Place;
    let storageId: string;
    let bucket: Bucket;
    let after: (count: number, what: () => Promise<void>) => void;

    const scan = async (): Promise<StoredScan> => {
      const { libraryId } = place;
      const { id } = await requestScan(api.deps.db, { libraryId, mode: 'full', trigger: 'person' });
      await scanLibrary({ libraryId, scanId: id }, place.work(), { settleMs: 0 });
      return seen(api, id);
    };

    before(async () => {
      const folder = temporaryFolder('gone-films');
      const { made } = await fixtures();
      for (let n = 1; n <= FILMS; n += 1) {
        const name = `Film ${n} (2001)`;
        await mkdir(join(folder, name));
        await copyFile(join(made, 'tiny.mkv'), join(folder, name, `${name}.mkv`));
        await appendFile(join(folder, name, `${name}.mkv`), Buffer.from([0xec, 0x81, n]));
      }
      const { settings, secrets } = await s3Place(folder);
      const port = Number(new URL(String(settings['endpoint'])).port);
      const client = bucketClient({
        ...{ endPoint: '127.0.0.1', port, useSSL: false, region: 'us-east-1' },
        ...{ accessKey: ACCESS, secretKey: SECRET },
      });
      bucket = bucketOf(client, String(settings['bucket']));
      const through = await passing(port);
      after = through.after;
      api = await startApi(LOOPBACK);
      const admin = api.as(await api.given.owner());
      const storage = await admin.createStorage({
        body: { name: 'Bucket', kind: 's3', settings: { ...settings, endpoint: through.endpoint }, secrets, readOnly },
      });
      expect(storage.status, JSON.stringify(storage.body)).to.equal(201);
      storageId = storage.body.id;
      // small enough for no guard to hold the loss, and missing items would go to the trash at once
      place = await newPlace('movies', { guardMinimum: 1000, trashGraceHours: 0 }, api);
      await rm(place.path, { recursive: true });
      const body = { folders: [{ storageId, path: '' }] };
      expect((await admin.updateLibrary({ params: { id: place.libraryId }, body })).status).to.equal(200);
      expect((await scan()).folders[0]).to.include({ state: 'listed', files: FILMS });
      await observed(readOnly ? 'sample' : 'marker');
    });

    /** Watches the storage until it has the state, or its marker or sample is kept. */
    async function observed(what: string): Promise<void> {
      const stop = new AbortController();
      const watching = watchStorages(place.work(stop.signal), stop.signal, { lookMs: 100 });
      try {
        await eventually(async () => {
          const { db } = api.deps;
          await db('storages').where({ id: storageId }).update({ changes: [] }); // many changes would hold it at degraded
          const row = await db('storages').where({ id: storageId }).first();
          const proof = row?.identity.sample?.length ? 'sample' : row?.marked_at ? 'marker' : '';
          return [proof, `${row?.state} ${row?.reason ?? ''}`].includes(what);
        }, 30_000);
      } finally {
        stop.abort();
        await watching;
      }
    }

    const kept = async (): Promise<unknown> => ({
      files: (await place.files()).map((file) => [file.path, file.item_id, file.missing_since]),
      items: (await place.items()).map((item) => [item.id, item.title, item.availability, item.trashed_at]),
    });

    const differs = `suspect ${readOnly ? 'sample-differs' : 'marker-missing'}`;
    for (const [how, refill, state, again] of [
      ['deleted', undefined, 'unavailable bucket-missing', 'storage-unavailable'],
      ['deleted and made again empty', 'makeEmpty', 'suspect root-empty', 'storage-suspect'],
      ['deleted and made again with another film', 'fill', differs, 'storage-suspect'],
    ] as const)
      it(`and is ${how} loses no item, and is scanned when it is back`, async () => {
        const before = await kept();
        const { db } = api.deps;
        await db('storages').where({ id: storageId }).update({ changes: [] }); // many changes would hold it at degraded
        const row = await db('storages').where({ id: storageId }).first();
        expect(row && (await observeStorage(place.work(), row)).ok, 'proved shortly before').to.equal(true);
        after(LISTED, async () => {
          await bucket.remove();
          if (refill) await bucket[refill]();
        });
        const [folder] = (await scan()).folders;
        expect(folder).to.include({ state: 'interrupted', missing: 0 });
        expect(folder?.reason).to.equal(refill && again);
        expect(await kept()).to.deep.equal(before);
        await observed(state);
        expect((await scan()).folders[0]).to.include({ state: 'skipped', reason: again });
        expect(await kept()).to.deep.equal(before);
        await bucket.bringBack();
        await observed('available ');
        expect((await scan()).folders[0]).to.include({ state: 'listed', files: FILMS, missing: 0 });
        expect(await kept()).to.deep.equal(before);
      });
  });

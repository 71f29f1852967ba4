// Files that remote storages get, in circumstances that take hours or that few servers have.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, request } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { startApi } from '#support/api.ts';
import { LOOPBACK, s3Place, webdavPlace } from '#support/remote-places.ts';
import { atEnd } from '#support/stores.ts';
import { parsedSettings } from '../../../api/areas/storage/places.ts';
import { openReader } from '../../../api/areas/storage/readers/open.ts';
import {
  Altered,
  type NewFile,
  Occupied,
  type StorageReader,
  Unsent,
} from '../../../api/areas/storage/readers/reader.ts';
import { readerOfStorage } from '../../../api/areas/storage/registry.ts';
import { sealSecrets } from '../../../api/areas/storage/storages.store.ts';

const fileOf = (bytes: Buffer, body: AsyncIterable<Buffer>): NewFile => ({
  ...{ size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), draftName: '.draft' },
  open: async () => Readable.from(body, { objectMode: false }),
});

describe('a file that is placed for a long time', function () {
  this.timeout(60_000);

  it('keeps the reader of its storage', async () => {
    const IDLE_MS = 300;
    const api = await startApi(LOOPBACK);
    const { kind, settings, secrets } = await webdavPlace();
    const id = newId();
    const sealed = sealSecrets(api.deps.keys, id, secrets);
    const row = { id, kind, settings: parsedSettings(kind, settings), secrets: sealed, owner_id: null };
    const reader = (): Promise<StorageReader> => readerOfStorage(api.deps.config, row as never, IDLE_MS);
    const first = await reader();
    const bytes = randomBytes(8000);
    const slowly = async function* (): AsyncGenerator<Buffer> {
      for (let at = 0; at < bytes.length; at += 1000) {
        await sleep(IDLE_MS / 2);
        yield bytes.subarray(at, at + 1000);
      }
    };
    await first.place?.('long.bin', fileOf(bytes, slowly()));
    expect((await reader()) === first, 'the same reader').to.equal(true);
    await sleep(2 * IDLE_MS);
    expect((await reader()) === first, 'an idle one is closed').to.equal(false);
  });
});

describe('a bucket without conditional writes', function () {
  this.timeout(60_000);

  /** The address of the bucket behind a server that refuses conditions, as some stores do. */
  async function without(endpoint: string): Promise<{ endpoint: string; refused: () => number }> {
    let refused = 0;
    const { hostname, port } = new URL(endpoint);
    const server = createServer((incoming, answer) => {
      const { method, url: path, headers } = incoming;
      if (headers['if-none-match']) {
        refused += 1;
        incoming.resume();
        answer.writeHead(501, { 'content-type': 'application/xml' });
        return answer.end('<?xml version="1.0"?><Error><Code>NotImplemented</Code><Message>no</Message></Error>');
      }
      const passed = request({ hostname, port, method, path, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 500, found.headers);
        found.pipe(answer);
      });
      return incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    atEnd(() => server.close());
    return { endpoint: `http://127.0.0.1:${(server.address() as { port: number }).port}`, refused: () => refused };
  }

  it('gets files of one part and of several, and never over one that came meanwhile', async () => {
    const place = await s3Place();
    const { endpoint, refused } = await without(String(place.settings['endpoint']));
    const settings = parsedSettings('s3', { ...place.settings, endpoint });
    const networks = { mediaRoots: [], clusterNetworks: [], apiServerNetworks: [], storageNetworks: ['127.0.0.0/8'] };
    const reader = openReader({ config: networks }, { ...place, settings });
    atEnd(() => reader.close());
    for (const bytes of [randomBytes(1000), randomBytes(17 << 20)]) {
      const path = `${bytes.length}.jpg`;
      const meanwhile = async function* (): AsyncGenerator<Buffer> {
        yield bytes.subarray(0, 500);
        await place.put(path, Buffer.from('theirs'));
        yield bytes.subarray(500);
      };
      const outcome = await reader.place?.(path, fileOf(bytes, meanwhile())).catch((error: Error) => error);
      expect(outcome, path).to.be.instanceOf(Occupied);
      expect((await reader.read(path, { start: 0, length: 10 })).toString()).to.equal('theirs');
      const plain = async function* (): AsyncGenerator<Buffer> {
        yield bytes;
      };
      await reader.place?.(`own-${path}`, fileOf(bytes, plain()));
      expect((await reader.stat(`own-${path}`))?.size).to.equal(bytes.length);
    }
    expect(refused()).to.be.at.least(3);
  });
});

describe('a bucket that does not keep the objects that it gets', function () {
  this.timeout(60_000);

  it('is reported as one that altered or lost the object', async () => {
    const place = await s3Place();
    const { hostname, port } = new URL(String(place.settings['endpoint']));
    let answers: ((size: string) => { status: number; size: string }) | undefined;
    const server = createServer((incoming, answer) => {
      const { method, url: path, headers } = incoming;
      const passed = request({ hostname, port, method, path, headers }, (found) => {
        const size = found.headers['content-length'] ?? '0';
        const isFound = method === 'HEAD' && found.statusCode === 200;
        const changed = (isFound && answers?.(size)) || { status: found.statusCode ?? 500, size };
        const sized = found.headers['content-length'] && { 'content-length': changed.size };
        answer.writeHead(changed.status, { ...found.headers, ...sized });
        found.pipe(answer);
      });
      return incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    atEnd(() => server.close());
    const endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const settings = parsedSettings('s3', { ...place.settings, endpoint });
    const networks = { mediaRoots: [], clusterNetworks: [], apiServerNetworks: [], storageNetworks: ['127.0.0.0/8'] };
    const reader = openReader({ config: networks }, { ...place, settings });
    atEnd(() => reader.close());
    const placing = (path: string): Promise<unknown> => {
      const bytes = randomBytes(1000);
      const body = async function* (): AsyncGenerator<Buffer> {
        yield bytes;
      };
      return (reader.place?.(path, fileOf(bytes, body())) ?? Promise.resolve()).catch((error: Error) => error);
    };
    expect(await placing('kept.jpg')).to.equal(undefined);
    answers = () => ({ status: 200, size: '900' });
    expect(await placing('altered.jpg')).to.be.instanceOf(Altered);
    answers = () => ({ status: 404, size: '0' });
    const lost = await placing('lost.jpg');
    expect(lost).to.be.instanceOf(Unsent);
    expect(lost).to.not.be.instanceOf(Altered);
  });
});

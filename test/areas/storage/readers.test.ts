// Readers of remote storages, against real servers.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { Config } from '#platform/config.ts';
import { openBytes, readMedia, statMedia, streamMedia } from '#platform/media-bytes.ts';
import { insideOf, type RemotePlace, remotePlaces } from '#support/remote-places.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { parsedSettings } from '../../../api/areas/storage/places.ts';
import { judgeOf } from '../../../api/areas/storage/readers/addresses.ts';
import { openReader, type Place } from '../../../api/areas/storage/readers/open.ts';
import {
  Absent,
  BLOCK_BYTES,
  type NewFile,
  Occupied,
  StorageFault,
  type StorageReader,
  Unsent,
} from '../../../api/areas/storage/readers/reader.ts';
import { addressOf, streamOf } from '../../../api/areas/storage/serving/ranges.ts';

const config = { mediaRoots: [], clusterNetworks: [], apiServerNetworks: [], storageNetworks: ['127.0.0.0/8'] };
type NetworkConfig = Pick<Config, 'mediaRoots' | 'clusterNetworks' | 'apiServerNetworks' | 'storageNetworks'>;

function opened(
  place: Omit<RemotePlace, 'put' | 'has'>,
  more: Partial<Place> = {},
  networks: NetworkConfig = config,
): StorageReader {
  const settings = parsedSettings(place.kind, { ...place.settings, ...more.settings });
  const reader = openReader({ config: networks }, { ...place, ...more, settings });
  atEnd(() => reader.close());
  return reader;
}

const fault = (work: () => Promise<unknown>): Promise<string> =>
  (async () => work())().then(
    () => 'none',
    (error: unknown) => (error instanceof StorageFault ? error.reason : `${(error as Error).constructor.name}`),
  );

/** Names of a home network: one host is this machine, all others have private addresses. */
function privateHosts() {
  const connected: string[] = [];
  const lookup = async (name: string) => {
    connected.push(name);
    return [{ address: name === 'dav.home' ? '127.0.0.1' : '10.1.2.3', family: 4 as const }];
  };
  return { lookup, connected };
}

const big = randomBytes(BLOCK_BYTES + 12_345);
const name = 'Fílm & 100% (2001) #1.mkv';

for (const [kind, start] of Object.entries(remotePlaces)) {
  describe(`a reader of ${kind}`, function () {
    this.timeout(60_000);
    let place: RemotePlace;
    let reader: StorageReader;
    before(async () => {
      place = await start();
      await place.put(`A/${name}`, big);
      await place.put('A/b/c.srt', Buffer.from('deep'));
      await place.put('top.txt', Buffer.from('t'));
      reader = opened(place);
    });

    it('lists one level, with sizes and kinds', async () => {
      const { entries, cut } = await reader.list('', { most: 100 });
      expect(cut).to.equal(false);
      expect(entries.map((entry) => [entry.name, entry.kind, entry.size])).to.have.deep.members([
        ['A', 'directory', 0],
        ['top.txt', 'file', 1],
      ]);
      const below = await reader.list('A', { most: 100 });
      expect(below.entries.map((entry) => [entry.name, entry.kind])).to.have.deep.members([
        [name, 'file'],
        ['b', 'directory'],
      ]);
      expect((await reader.list('A', { most: 1 })).cut).to.equal(true);
    });

    it('lists a folder of 1,200 files', async () => {
      const from = temporaryFolder('many');
      mkdirSync(join(from, 'all'));
      const made = Array.from({ length: 1200 }, (_, n) => `Film ${n} (1999) & more.mkv`);
      for (const one of made) writeFileSync(join(from, 'all', one), 'x');
      const { entries, cut } = await opened(await start(from)).list('all', { most: 5000 });
      expect(cut).to.equal(false);
      expect(entries.map((entry) => entry.name).sort()).to.deep.equal(made.sort());
    });

    it('describes files and folders, and reports absent ones', async () => {
      const found = await reader.stat(`A/${name}`);
      expect(found).to.include({ kind: 'file', size: big.length, name });
      expect(Math.abs((found?.modifiedMs ?? 0) - Date.now())).to.be.below(600_000);
      expect(await reader.stat('A')).to.include({ kind: 'directory' });
      expect(await reader.stat('A/none.mkv')).to.equal(undefined);
      expect(await fault(() => reader.list('none', { most: 1 }))).to.equal(Absent.name);
      expect(await fault(() => reader.read('none', { start: 0, length: 1 }))).to.equal(Absent.name);
    });

    it('reads ranges, and fewer bytes only at the end', async () => {
      const at = (from: number, length: number) => reader.read(`A/${name}`, { start: from, length });
      expect((await at(0, BLOCK_BYTES)).equals(big.subarray(0, BLOCK_BYTES))).to.equal(true);
      expect((await at(777, 5)).equals(big.subarray(777, 782))).to.equal(true);
      expect((await at(big.length - 3, 100)).equals(big.subarray(-3))).to.equal(true);
      expect(await at(big.length + 5, 10)).to.have.length(0);
    });

    it('reaches nothing outside of its folder by a name with backslashes', async () => {
      await place.put('secret.txt', Buffer.from('canary'));
      const inside = opened(place, { settings: insideOf(place, 'A') });
      for (const path of ['..\\secret.txt', '..\\\\secret.txt', 'b\\\\..\\\\..\\\\secret.txt']) {
        const found = await inside.stat(path).catch(() => undefined); // a bucket may take no such name
        expect(found, path).to.equal(undefined);
        expect(await fault(() => inside.read(path, { start: 0, length: 10 })), path).to.not.equal('none');
        await inside.remove(path).catch(() => undefined);
      }
      expect(await place.has('secret.txt')).to.equal(true);
    });

    it('writes a new file, never over another one, and removes it', async () => {
      await reader.write('new.bin', Buffer.from('one'));
      expect(await fault(() => reader.write('new.bin', Buffer.from('two')))).to.equal(Occupied.name);
      expect((await reader.read('new.bin', { start: 0, length: 10 })).toString()).to.equal('one');
      await reader.write('new.bin', Buffer.from('three'), { replace: true });
      expect((await reader.read('new.bin', { start: 0, length: 10 })).toString()).to.equal('three');
      await reader.remove('new.bin');
      await reader.remove('new.bin');
      expect(await place.has('new.bin')).to.equal(false);
    });

    it('places whole files, in new folders, over its own unfinished one and never over another file', async () => {
      const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
      const draftName = '.foyer-upload-1.jpg';
      const file = (bytes: Buffer, more: Partial<NewFile> = {}): NewFile => ({
        ...{ size: bytes.length, sha256: sha256(bytes), draftName, open: async () => Readable.from([bytes]) },
        ...more,
      });
      const write = async (path: string, given: NewFile): Promise<void> => reader.place?.(path, given);
      const names = async (): Promise<string[]> =>
        (await reader.list('2020/06', { most: 100 })).entries.map((entry) => entry.name).sort();
      const large = randomBytes((17 << 20) + 11); // three parts of S3
      if (kind !== 's3') await place.put(`2020/06/${draftName}`, Buffer.from('of a killed process'));
      await write(`2020/06/${name}`, file(large));
      const parts: Buffer[] = [];
      const end = large.length - 1;
      for await (const chunk of streamOf({ reader, path: `2020/06/${name}` }, { start: 0, end }))
        parts.push(chunk as Buffer);
      expect(Buffer.concat(parts).equals(large)).to.equal(true);
      for (const other of [Buffer.from('two'), large])
        expect(await fault(() => write(`2020/06/${name}`, file(other)))).to.equal(Occupied.name);
      const breaking = async function* (): AsyncGenerator<Buffer> {
        yield large.subarray(0, 9 << 20);
        throw new Error('gone');
      };
      const bad = [{ sha256: sha256(big) }, { open: async () => Readable.from(breaking()) }];
      for (const more of bad)
        expect(await fault(() => write('2020/06/bad.jpg', file(large, more)))).to.equal(Unsent.name);
      expect(await names()).to.deep.equal([name]);
    });

    it('serves a file to children under a random address, whole and in ranges, and nothing else', async () => {
      const path = `A/${name}`;
      const file = { reader, path, size: big.length, modifiedMs: 1_000_000_000_123 };
      const address = await addressOf(file);
      expect(address).to.match(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/file\.mkv$/);
      expect(await addressOf(file), 'one address for a file').to.equal(address);
      expect(await statMedia(address)).to.deep.include({ size: big.length, mtimeMs: 1_000_000_000_123 });
      expect((await readMedia(address)).equals(big)).to.equal(true);
      const bytes = await openBytes(address);
      expect((await bytes.read(big.length - 4, 100)).equals(big.subarray(-4))).to.equal(true);
      const part: Buffer[] = [];
      for await (const chunk of streamMedia(address, { start: 10, end: 400_000 }))
        part.push(Buffer.from(chunk as Buffer));
      expect(Buffer.concat(part).equals(big.subarray(10, 400_001))).to.equal(true);
      for (const other of [address.replace(/\/[\w-]{32}\//, `/${'a'.repeat(32)}/`), address.replace('/file', '/')])
        expect((await fetch(other)).status, other).to.equal(404);
      expect((await fetch(address, { method: 'POST' })).status).to.equal(404);
      expect((await fetch(address, { headers: { range: `bytes=${big.length}-` } })).status).to.equal(416);
    });

    it('stops reading when the stream is closed', async () => {
      let reads = 0;
      const counted: StorageReader = {
        ...reader,
        read: (...given) => {
          reads += 1;
          return reader.read(...given);
        },
      };
      const stream = streamOf({ reader: counted, path: `A/${name}` }, { start: 0, end: big.length - 1 });
      await once(stream, 'readable');
      stream.destroy();
      await once(stream, 'close');
      expect(reads).to.be.at.most(3);
    });

    it('names why it cannot read, without secrets', async () => {
      const secrets = Object.fromEntries(Object.keys(place.secrets).map((key) => [key, 'canary-wrong']));
      const wrong = opened(place, { secrets });
      const error = await wrong.list('', { most: 1 }).catch((thrown: unknown) => thrown as StorageFault);
      expect(error).to.be.instanceOf(StorageFault);
      const { reason, message, stage } = error as StorageFault;
      expect([reason, stage]).to.deep.equal(['authentication-failed', 'authenticate']);
      expect(message).to.not.match(/canary/);
      const closed = { ...config, storageNetworks: [] };
      const outside = await fault(async () => opened(place, {}, closed).list('', { most: 1 }));
      expect(outside, 'loopback is for no storage').to.equal('host-unreachable');
    });
  });
}

describe('a reader of sftp and its host key', function () {
  this.timeout(30_000);
  it('refuses a host with another key and shows the one that it saw', async () => {
    const place = await remotePlaces.sftp();
    for (const hostKeySha256 of ['A'.repeat(43), undefined]) {
      const reader = opened(place, { settings: { hostKeySha256 } });
      const error = (await reader.list('', { most: 1 }).catch((thrown: unknown) => thrown)) as StorageFault;
      expect([error.reason, error.stage]).to.deep.equal(['host-key-changed', 'authenticate']);
      expect(error.message).to.include(`SHA256:${String(place.settings['hostKeySha256'])}`);
    }
  });
});

describe('a reader of webdav and a hostile server', function () {
  this.timeout(60_000);

  async function hostile(listener: Parameters<typeof createServer>[1]): Promise<StorageReader> {
    const server = createServer(listener as never).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const place = {
      kind: 'webdav' as const,
      settings: { url: `http://127.0.0.1:${port}/`, username: 'ada' },
      secrets: { password: 'canary-pass' },
    };
    return opened(place, {}, { ...config, storageNetworks: ['127.0.0.1/32'] });
  }

  it('follows no redirect to an address that is not reached', async () => {
    let reached = 0;
    const inside = createServer((_request, response) => {
      reached += 1;
      response.end('secret');
    }).listen(0, '127.0.0.2');
    await once(inside, 'listening');
    atEnd(() => inside.close());
    const { port } = inside.address() as { port: number };
    const reader = await hostile((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.2:${port}/` }).end();
    });
    expect(await fault(() => reader.list('', { most: 1 }))).to.equal('host-unreachable');
    expect(reached).to.equal(0);
  });

  it('refuses a redirect with a password in its address, and keeps its password from another origin', async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    atEnd(() => other.close());
    const { port } = other.address() as { port: number };
    let location = `http://a:b@127.0.0.1:${port}/`;
    const reader = await hostile((_request, response) => response.writeHead(307, { location }).end());
    expect(await fault(() => reader.list('', { most: 1 }))).to.equal('host-unreachable');
    expect(seen).to.deep.equal([]);
    location = `http://127.0.0.1:${port}/`;
    expect(await fault(() => reader.list('', { most: 1 }))).to.equal(Absent.name);
    expect(seen).to.deep.equal([undefined]);
    location = '/';
    expect(await fault(() => reader.list('', { most: 1 })), 'a circle').to.equal('host-unreachable');
  });

  it('reaches the hosts that a member may, and follows them to no other private address', async () => {
    const { lookup, connected } = privateHosts();
    const server = createServer((_request, response) => {
      response.writeHead(307, { location: 'http://other.home/' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const { port } = server.address() as { port: number };
    const reach = { ...config, storageNetworks: ['127.0.0.1/32'] };
    const open = (host: string): StorageReader => {
      const place = { kind: 'webdav' as const, settings: { url: `http://${host}/` }, secrets: {} };
      const settings = parsedSettings(place.kind, place.settings);
      const reader = openReader(
        { config: reach, lookup },
        { ...place, settings, personal: { hosts: ['Dav.home', '10.9.9.9'] } },
      );
      atEnd(() => reader.close());
      return reader;
    };
    expect(await fault(() => open(`dav.home:${port}`).list('', { most: 1 }))).to.equal('host-unreachable');
    expect([...new Set(connected)], 'names that were judged').to.deep.equal(['dav.home', 'other.home']);
    const judge = (host: string) =>
      judgeOf({ config: reach, lookup, personal: { hosts: ['other.home', '10.9.9.9'] } }, host);
    expect(() => judge('10.9.9.9')).to.not.throw();
    expect(() => judge('10.9.9.9').refuse('10.9.9.8')).to.throw();
    expect(() => judge('10.9.9.8')).to.throw();
    const found = (name: string): Promise<string> =>
      new Promise((done) =>
        judge('other.home').lookup(name, { all: true }, (error) => done(error?.constructor.name ?? 'reached')),
      );
    expect([await found('other.home'), await found('third.home')]).to.deep.equal(['reached', 'OutboundRefused']);
  });

  it('takes names only from inside of the folder', async () => {
    const one = (href: string) =>
      `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:resourcetype/><D:getcontentlength>1</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
    const hrefs = [
      '/a/x.mkv',
      '/a/../etc/passwd',
      '/a/%2e%2e/y',
      '/etc/passwd',
      'http://other.example/a/z.mkv',
      '/a/b/c',
      '/a/%2F..%2Fq',
      '/a/%E0%A4%A',
    ];
    const reader = await hostile((_request, response) => {
      response.writeHead(207, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${hrefs.map(one).join('')}</D:multistatus>`);
    });
    const { entries } = await reader.list('a', { most: 100 });
    expect(entries.map((entry) => entry.name)).to.deep.equal(['x.mkv', 'z.mkv']);
  });

  it('reads no list without end', async () => {
    const reader = await hostile((_request, response) => {
      response.writeHead(207, { 'content-type': 'application/xml' });
      const chunk = Buffer.alloc(1 << 20, ' ');
      const send = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', send);
      };
      send();
    });
    expect(await fault(() => reader.list('', { most: 1 }))).to.equal('full');
  });
});

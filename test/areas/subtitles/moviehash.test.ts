// The hash by which providers know a film, of films on remote storages: the requests that reach the storage are counted.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { findSource } from '#areas/streaming/public.ts';
import { hashOf } from '#areas/subtitles/find/wanted.view.ts';
import { startApi } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { LOOPBACK, type RemotePlace, s3Place, webdavPlace } from '#support/remote-places.ts';
import { atEnd } from '#support/stores.ts';

const NAME = 'Heat (1995).mkv';
const EDGE = 65_536;

/** As OpenSubtitles describes it: the size and the numbers of 64 bits at both ends, modulo 2^64. */
function hashByBook(bytes: Buffer): string {
  let sum = BigInt(bytes.length);
  for (const end of [bytes.subarray(0, EDGE), bytes.subarray(-EDGE)])
    for (let at = 0; at < EDGE; at += 8) sum = BigInt.asUintN(64, sum + end.readBigUInt64LE(at));
  return sum.toString(16).padStart(16, '0');
}

interface Read {
  method: string;
  range: string | undefined;
  url: string;
}

/** Forwards to a server over HTTP, and lists the requests. */
async function listening(target: URL): Promise<{ url: string; reads: Read[] }> {
  const reads: Read[] = [];
  const server = createServer((got, answer) => {
    const { method = '', url = '', headers } = got;
    reads.push({ method, range: headers.range, url: decodeURIComponent(url) });
    const sent = request({ host: target.hostname, port: target.port, method, path: url, headers }, (back) => {
      answer.writeHead(back.statusCode ?? 502, back.headers);
      back.pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    got.pipe(sent);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reads };
}

const PLACES: Record<string, { start: () => Promise<RemotePlace>; address: string }> = {
  s3: { start: s3Place, address: 'endpoint' },
  webdav: { start: webdavPlace, address: 'url' },
};

for (const [kind, { start, address }] of Object.entries(PLACES))
  describe(`the hash of a film on ${kind}`, function () {
    this.timeout(60_000);

    it('is that of its bytes, by two ranged reads', async () => {
      const bytes = randomBytes(9_000_001); // more than two blocks of a reader
      const there = await start();
      await there.put(NAME, bytes);
      const target = new URL(String(there.settings[address]));
      const { url, reads } = await listening(target);
      const api = await startApi(LOOPBACK);
      const { db } = api.deps;
      const admin = api.as(await api.given.owner());
      const settings = { ...there.settings, [address]: `${url}${target.pathname === '/' ? '' : target.pathname}` };
      const made = await admin.createStorage({ body: { kind, name: kind, settings, secrets: there.secrets } as never });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const library = await givenLibrary(db, 'movies');
      await db('library_folders').where({ id: library.folderId }).update({ storage_id: made.body.id, path: '' });
      const fileId = await givenFile(db, library, await givenItem(db, library), { size_bytes: bytes.length });
      await db('media_files').where({ id: fileId }).update({ path: NAME, storage_id: made.body.id });
      reads.length = 0;
      const hash = await hashOf({ db, deps: api.deps } as never, await findSource(db, fileId));
      expect(hash).to.equal(hashByBook(bytes));
      const gets = reads.filter(({ method, url: path }) => method === 'GET' && path.includes(NAME));
      expect(gets.map(({ range }) => range)).to.have.members([
        `bytes=0-${EDGE - 1}`,
        `bytes=${bytes.length - EDGE}-${bytes.length - 1}`,
      ]);
    });
  });

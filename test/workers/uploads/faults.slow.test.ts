// Uploads through faults: processes that are killed, disks and buckets that are gone. An acknowledged byte is never sent again, and
// nothing half appears in a folder.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import sharp from 'sharp';
import { type Api, startApi } from '#support/api.ts';
import { startApiProcess } from '#support/processes.ts';
import { startS3 } from '#support/s3.ts';
import { traversals } from '#support/spellings.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { finishUpload } from '#workers/uploads/finish.ts';
import { newUploadPlace, type Sent, sha256Of, type UploadPlace } from './support.ts';

const MIB = 1 << 20;
const CHUNK = 8 * MIB;

const photo = (side = 20): Promise<Buffer> =>
  sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
    .withMetadata({ exif: { IFD2: { DateTimeOriginal: '2020:06:01 12:00:00' } } })
    .png({ compressionLevel: 0 })
    .toBuffer();

const chunkOf = (bytes: Buffer, at: number): Buffer => bytes.subarray(at * CHUNK, (at + 1) * CHUNK);

describe('an upload through faults', function () {
  this.timeout(300_000);

  it('loses no acknowledged chunk when the API is killed in the middle of each', async () => {
    const api = await startApi();
    const place = await newUploadPlace(api);
    const bytes = await photo(3200); // 31 MB: four chunks
    const [answer] = await place.announce([{ name: 'killed.png', bytes }]);
    const id = answer?.upload?.id ?? '';
    const count = Math.ceil(bytes.length / CHUNK);
    expect(count).to.equal(4);
    for (let at = 0; at < count; at += 1) {
      const { pid, url } = await startApiProcess(api);
      const chunk = chunkOf(bytes, at);
      const put = (body: Buffer | ReadableStream): Promise<Response> =>
        fetch(`${url}/api/v1/uploads/${id}/chunks/${at}`, {
          method: 'PUT',
          headers: {
            ...place.member.headers,
            'content-type': 'application/octet-stream',
            'content-length': String(chunk.length),
            'x-chunk-sha256': sha256Of(chunk),
          },
          body: body as never,
          duplex: 'half',
        } as RequestInit);
      const half = async function* (): AsyncGenerator<Buffer> {
        yield chunk.subarray(0, chunk.length / 2);
        process.kill(pid, 'SIGKILL');
        await new Promise(() => undefined);
      };
      const died = await put(Readable.toWeb(Readable.from(half())) as never).then(
        ({ status }) => `answered ${status}`,
        () => 'died',
      );
      expect(died).to.equal('died');
      const { body } = await place.as.listUploads({ query: { ids: id } });
      expect(body.items[0]?.received, 'the acknowledged ones').to.deep.equal(at === 0 ? [] : [[0, at - 1]]);
      expect((await place.chunk(id, at, chunk)).status).to.equal(200);
    }
    expect(await place.finish(id)).to.include({ state: 'finished' });
    expect(readFileSync(join(place.path, '2020/06/killed.png')).equals(bytes)).to.equal(true);
  });

  it('waits for its object store at each step, and goes on with the bytes that it has', async () => {
    const { url, cut, mend } = await cuttable(await startS3());
    const api = await startApi({ FOYER_OBJECTS_URL: url });
    await api.deps.objects.prepare(['foyer-uploads']);
    const place = await newUploadPlace(api);
    const bytes = await photo(2000); // 12 MB
    const [answer] = await place.announce([{ name: 'gone.png', bytes }]);
    const id = answer?.upload?.id ?? '';
    const gone = async (at: number): Promise<void> => {
      cut();
      const response = await place.chunk(id, at, chunkOf(bytes, at));
      expect(response.status).to.equal(503);
      expect(await response.json()).to.have.nested.property('error.details.waitingFor', 'objects');
      expect(response.headers.get('retry-after')).to.match(/^\d+$/);
      await mend();
    };
    await gone(0); // before the multipart upload exists
    expect((await place.chunk(id, 0, chunkOf(bytes, 0))).status).to.equal(200);
    await gone(1);
    expect((await place.as.listUploads({ query: { ids: id } })).body.items[0]?.received).to.deep.equal([[0, 0]]);
    expect((await place.chunk(id, 1, chunkOf(bytes, 1))).status).to.equal(200);
    cut();
    const failed = await finishUpload({ uploadId: id }, place.work()).then(String, () => 'failed');
    expect(failed, 'a failed attempt is repeated').to.equal('failed');
    expect(await place.read(id)).to.include({ state: 'verifying' });
    await mend();
    expect(await place.finish(id)).to.include({ state: 'finished' });
    expect(readFileSync(join(place.path, '2020/06/gone.png')).equals(bytes)).to.equal(true);
  });

  it('makes no path of a name', async () => {
    const api = await startApi();
    const place = await newUploadPlace(api);
    expect(traversals.length).to.be.at.least(160);
    const around = (): string[] => readdirSync(join(place.path, '..')).sort();
    const before = around();
    const names = traversals.filter((path) => !path.includes('\0')).map((path) => `${path}.jpg`);
    for (const path of traversals.filter((one) => one.includes('\0'))) {
      const files = [{ name: `${path}.jpg`, sizeBytes: 1 }];
      const { status } = await place.as.createUploads({ body: { libraryId: place.libraryId, files } });
      expect(status, JSON.stringify(path)).to.equal(400);
    }
    const bytes = await photo();
    const answers = await place.announce(names.map((name) => ({ name, bytes })));
    let placed = 0;
    for (const { upload } of answers) {
      if (!upload) continue;
      const own = await photo();
      await api.deps.db('uploads').where({ id: upload.id }).update({ size_bytes: own.length });
      expect((await place.chunk(upload.id, 0, own)).status).to.equal(200);
      await finishUpload({ uploadId: upload.id }, place.work()).catch(() => undefined); // it waits for the scan
      placed += 1;
    }
    expect(placed).to.be.at.least(100);
    const tree = await place.tree();
    expect(tree).to.have.lengthOf(placed);
    for (const path of tree) expect(path).to.match(/^2020\/06\/[^/\\]+\.jpg$/);
    expect(around()).to.deep.equal(before);
  });
});

describe('an upload to a full disk', function () {
  this.timeout(120_000);
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  /** A disk of 32 MB. */
  function disk(at: string): { fill: (leave: number) => void; free: () => void } {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=777', 'tmpfs', at]);
    atEnd(async () => void execFileSync('umount', ['-l', at]));
    const ballast = join(at, '.ballast');
    const fill = (leave: number): void => {
      const { bavail, bsize } = statfsSync(at);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leave), 1), { flag: 'a' });
    };
    return { fill, free: () => rmSync(ballast, { force: true }) };
  }
  async function sent(place: UploadPlace, name: string, bytes: Buffer): Promise<string> {
    const [answer] = await place.announce([{ name, bytes, more: { clientFileId: name.replace(/\..*/, '') } }]);
    const id = answer?.upload?.id ?? '';
    for (let at = 0; at * CHUNK < bytes.length; at += 1)
      expect((await place.chunk(id, at, chunkOf(bytes, at))).status).to.equal(200);
    return id;
  }
  /** Runs the job while the disk fills up once so many bytes of the file were read. */
  async function whileFilling(place: UploadPlace, id: string, { after, fill }: { after: number; fill: () => void }) {
    const { objects } = api.deps;
    const filling = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      let read = 0;
      for await (const piece of body) {
        yield piece;
        if (read < after && read + piece.length >= after) fill();
        read += piece.length;
      }
    };
    let reads = 0;
    const get: typeof objects.get = async (...given) => {
      const body = await objects.get(...given);
      if (given[2]) return body; // the probe
      reads += 1;
      return reads === 2 ? Readable.from(filling(body as AsyncIterable<Buffer>), { objectMode: false }) : body;
    };
    await finishUpload({ uploadId: id }, { ...place.work(), objects: { ...objects, get } });
  }

  it('fails as such at each step, leaves nothing half, and arrives once there is space', async () => {
    const place = await newUploadPlace(api);
    const { fill, free } = disk(place.path);
    const bytes = await photo(2000); // 12 MB
    const failed = async (id: string, at: string): Promise<Sent> => {
      const now = await place.read(id);
      expect(now, at).to.include({ state: 'failed', errorReason: 'storage-full' });
      expect(
        (await place.tree()).filter((path) => path !== '.ballast'),
        at,
      ).to.deep.equal([]);
      free();
      // the file that could not be written is closed a moment after its deletion
      await eventually(async () => statfsSync(place.path).bavail * statfsSync(place.path).bsize > 30 * MIB);
      return now;
    };
    const first = await sent(place, 'first.png', bytes);
    fill(6 * MIB);
    await finishUpload({ uploadId: first }, place.work());
    await failed(first, 'before a byte');
    const second = await sent(place, 'second.png', await photo(2000));
    await whileFilling(place, second, { after: 2 * MIB, fill: () => fill(0) });
    await failed(second, 'in the middle');
    const [again] = await place.announce([{ name: 'first.png', bytes, more: { clientFileId: 'first' } }]);
    expect(again?.upload?.id, 'it is kept for another try').to.equal(first);
    const arrived = await place.finish(first);
    expect(arrived, JSON.stringify(arrived)).to.include({ state: 'finished' });
    expect(readFileSync(join(place.path, '2020/06/first.png')).equals(bytes)).to.equal(true);
  });
});

/** The address of an object store through a connection that can be cut. */
async function cuttable(objectsUrl: string): Promise<{ url: string; cut: () => void; mend: () => Promise<void> }> {
  const target = new URL(objectsUrl);
  const behind = { port: Number(target.port), host: target.hostname };
  const open = new Set<Socket>();
  const passing = (): ReturnType<typeof createServer> =>
    createServer((socket) => {
      const through = connect(behind);
      for (const [one, other] of [
        [socket, through],
        [through, socket],
      ] as const) {
        open.add(one.on('error', () => other.destroy()).on('close', () => other.destroy()));
        one.pipe(other);
      }
    });
  let server = passing().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  atEnd(() => server.close());
  target.port = String(port);
  return {
    url: target.href,
    cut() {
      server.close();
      for (const socket of open) socket.destroy();
      open.clear();
    },
    async mend() {
      server = passing().listen(port, '127.0.0.1');
      await eventually(() => server.listening);
    },
  };
}

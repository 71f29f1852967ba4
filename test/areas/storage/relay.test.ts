// Films on a remote storage for processes without keys: read through the metrics port of an API pod.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { mediaRelay, openMedia, type Wanted } from '#areas/storage/public.ts';
import { createLog } from '#platform/log.ts';
import { readMedia } from '#platform/media-bytes.ts';
import { errorOf } from '#support/answers.ts';
import { type Answered, type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { bareEnvironment, storesOf } from '#support/processes.ts';
import { LOOPBACK, s3Place } from '#support/remote-places.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';
import { openSoundtrack } from '#workers/subtitles/speech/sound.ts';
import { relayKey } from '../../../api/areas/storage/relay/relay.store.ts';
import { TOKEN_MS, tokenOf } from '../../../api/areas/storage/relay/token.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';
import { newPlace, type StoredFile } from '../../workers/scan/support.ts';

const root = join(import.meta.dirname, '../../..');
const NAME = 'films/A (2001)/A (2001) [100% #1].mkv';
const BIG = 'films/big.bin';
const NO_KEYS = '/nowhere/keys.json';

describe('films on S3 for processes without keys', function () {
  this.timeout(120_000);
  let api: Api;
  let admin: Person;
  let file: StoredFile;
  let whole: Buffer;
  let wanted: Wanted;
  let key: Buffer;
  let relay: { server: Server; url: string; requests: string[] };
  let decoder: ChildProcess | undefined;

  before(async () => {
    const folder = temporaryFolder('relayed-films');
    mkdirSync(join(folder, 'films/A (2001)'), { recursive: true });
    const film = join((await fixtures()).made, 'h264-multi.mkv');
    copyFileSync(film, join(folder, NAME));
    whole = await readFile(film);
    const there = await s3Place(folder);
    await there.put('others/secret.mkv', whole);
    await there.put(BIG, Buffer.alloc(24 << 20)); // more than sockets buffer
    api = await startApi(LOOPBACK);
    admin = await api.given.owner();
    const { kind, settings, secrets } = there;
    const made = await api.as(admin).createStorage({ body: { name: kind, kind, settings, secrets } });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const place = await newPlace('movies', {}, api);
    await rm(place.path, { recursive: true });
    const body = { folders: [{ storageId: made.body.id, path: 'films' }] };
    expect((await api.as(admin).updateLibrary({ params: { id: place.libraryId }, body })).status).to.equal(200);
    await place.scan();
    [file] = (await place.files()) as [StoredFile];
    const row = await api.deps.db('media_files').where({ id: file.id }).first();
    wanted = {
      ...{ storageId: made.body.id, folderId: row?.folder_id ?? '', path: NAME },
      ...{ sizeBytes: whole.length, modifiedMs: row?.modified_ms ?? 0 },
    };
    relay = await startRelay();
    key = await relayKey(api.deps.db);
  });
  after(() => void decoder?.kill('SIGKILL'));

  async function startRelay(): Promise<typeof relay> {
    const { db, config } = { ...api.deps, config: api.config };
    const serve = mediaRelay({ db, config, log: createLog('silent', 'test') });
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.headers.range}`);
      if (!serve(request, response)) response.end('metrics');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => stopped(server));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
  }

  function stopped(server: Server): void {
    server.close();
    server.closeAllConnections();
  }

  /** A worker that reaches neither the storage nor its keys. */
  function startDecoder(): void {
    const own = { FOYER_KEYS_FILE: NO_KEYS, FOYER_MEDIA_RELAY: relay.url, FOYER_LOG_LEVEL: 'silent' };
    const env = {
      ...bareEnvironment(),
      ...storesOf(api.config),
      ...own,
      FOYER_SCRATCH_DIR: temporaryFolder('decoder'),
    };
    decoder = spawn(process.execPath, ['workers/transcode/main.ts'], {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  async function openStream(): Promise<(segment: number) => Promise<Answered>> {
    const client = { builtIn: 'hls' };
    const body = { client, allow: { directPlay: false, directStream: false } };
    const started = await api.as(admin).startPlayback({ params: { id: file.item_id }, body });
    expect(started.status, JSON.stringify(started.body)).to.equal(201);
    const id = /stream\/([^/]+)\//.exec(started.body.session?.url ?? '')?.[1] ?? '';
    return (segment) => api.as(admin).getStreamSegment({ params: { id, rendition: 'v0', segment: `${segment}.m4s` } });
  }

  const tokenFor = (other: Partial<Wanted> = {}, now?: number): string => tokenOf(key, { ...wanted, ...other }, now);
  const get = (token: string, init: RequestInit = {}): Promise<Response> => fetch(`${relay.url}/media/${token}`, init);
  const storage = (row: object) => api.deps.db('storages').where({ id: wanted.storageId }).update(row);

  it('serve the bytes of one file to a token, whole, in ranges and as a description', async () => {
    const token = tokenFor();
    expect(Buffer.from(await (await get(token)).arrayBuffer()).equals(whole)).to.equal(true);
    const part = await get(token, { headers: { range: 'bytes=1000-300000' } });
    expect([part.status, part.headers.get('content-range')]).to.deep.equal([206, `bytes 1000-300000/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(1000, 300_001))).to.equal(true);
    const described = await get(token, { method: 'HEAD' });
    expect(Number(described.headers.get('content-length'))).to.equal(whole.length);
    expect(Math.abs(Number(described.headers.get('x-modified-ms')) - wanted.modifiedMs)).to.be.below(1000);
    expect((await get(token, { headers: { range: `bytes=${whole.length}-` } })).status).to.equal(416);
    expect(await (await fetch(`${relay.url}/metrics`)).text()).to.equal('metrics');
  });

  it('serve nothing else', async () => {
    const token = tokenFor();
    const [body = '', signature = ''] = token.split('.');
    const [otherBody] = tokenFor({ path: 'films/B.mkv' }).split('.');
    const { id: mount } = await api.deps.db('storages').where({ kind: 'mount' }).first('id');
    const refused: Record<string, string> = {
      'no signature': body,
      'a short signature': `${body}.${signature.slice(0, 20)}`,
      'the signature of another file': `${otherBody}.${signature}`,
      'another key': tokenOf(Buffer.alloc(32, 1), wanted),
      'an expired token': tokenFor({}, Date.now() - TOKEN_MS - 1000),
      'a file that is not there': tokenFor({ path: 'films/B.mkv' }),
      'a file outside of the folder': tokenFor({ path: 'others/secret.mkv' }),
      'a way out of the folder': tokenFor({ path: 'films/../others/secret.mkv' }),
      'a folder of another storage': tokenFor({ storageId: mount }),
      'no token': '',
    };
    for (const [name, given] of Object.entries(refused)) expect((await get(given)).status, name).to.equal(404);
    expect((await get(token, { method: 'POST' })).status).to.equal(404);
    const onMount = { folderId: (await newPlace('movies', {}, api)).folderId, storageId: mount };
    const [{ path }] = (await api.deps.db('library_folders').where({ id: onMount.folderId }).select('path')) as [
      { path: string },
    ];
    copyFileSync(join((await fixtures()).made, 'tiny.mkv'), join(api.mediaRoot, path, 'A.mkv'));
    expect(
      (await openMedia({ db: api.deps.db, config: api.config }, { ...wanted, ...onMount, path: `${path}/A.mkv` })).kind,
    ).to.equal('there');
    expect((await get(tokenFor({ ...onMount, path: `${path}/A.mkv` }))).status, 'a file on a mount').to.equal(404);
    await storage({ enabled: false });
    try {
      const fresh = tokenFor({ sizeBytes: whole.length + 1 }); // not opened in the last seconds
      expect((await get(fresh)).status, 'a disabled storage').to.equal(503);
    } finally {
      await storage({ enabled: true });
    }
  });

  it('end a read when the client leaves, and serve at most 32 at once', async () => {
    const { port } = relay.server.address() as AddressInfo;
    const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    const answers: string[] = [];
    for (const socket of sockets) {
      socket.once('data', (bytes: Buffer) => {
        answers.push(bytes.toString('latin1').slice(9, 12));
        socket.pause();
      });
      socket.write(`GET /media/${tokenFor({ path: BIG })} HTTP/1.1\r\nHost: relay\r\n\r\n`);
    }
    await eventually(() => answers.length === 40);
    expect(answers.filter((status) => status === '429')).to.have.length(8);
    expect((await get(tokenFor(), { method: 'HEAD' })).status, 'while they are held').to.equal(429);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await get(tokenFor(), { method: 'HEAD' })).status === 200);
  });

  it('are opened by them as by others, and without the relay they are not', async () => {
    const { db } = api.deps;
    const config = { ...api.config, keysFile: NO_KEYS, mediaRelay: relay.url };
    const opened = await openMedia({ db, config }, wanted);
    if (opened.kind !== 'there') throw new Error(opened.kind);
    expect(opened.size).to.equal(whole.length);
    expect((await readMedia(opened.absolute)).equals(whole)).to.equal(true);
    const again = await openMedia({ db, config }, wanted);
    expect(again, 'one address for a file').to.include({ absolute: opened.absolute });
    expect((await openMedia({ db, config }, { ...wanted, path: 'films/B.mkv' })).kind).to.equal('absent');
    const sound = await openSoundtrack({ db, config }, { fileId: file.id, index: 1 });
    expect(sound, 'the soundtrack for speech').to.include({ file: opened.absolute });
    const unreached = await openMedia({ db, config: { ...config, mediaRelay: 'http://127.0.0.1:1' } }, wanted);
    expect(unreached).to.deep.equal({ kind: 'unavailable', reason: 'host-unreachable' });
    const moved = createServer((_request, response) =>
      response.writeHead(302, { Location: `${relay.url}/media/${tokenFor()}` }).end(),
    );
    await once(moved.listen(0, '127.0.0.1'), 'listening');
    const redirect = `http://127.0.0.1:${(moved.address() as AddressInfo).port}`;
    expect((await openMedia({ db, config: { ...config, mediaRelay: redirect } }, wanted)).kind).to.equal('unavailable');
    stopped(moved);
  });

  it('play by a worker process, and outlast an outage of their storage', async () => {
    startDecoder();
    relay.requests.length = 0;
    const segment = await openStream();
    const first = await segment(0);
    expect(first.status, JSON.stringify(first.body)).to.equal(200);
    expect((first.body as Buffer).length).to.be.above(1000);
    expect(relay.requests.length, 'read through the relay').to.be.above(1);
    const other = await openStream();
    await storage({ enabled: false });
    for (let i = 0; i < 8; i += 1) {
      const answer = await other(0);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([423, 'STORAGE_UNAVAILABLE']);
      await eventually(async () => {
        const open = await api.deps.db('transcode_sessions').where({ state: 'starting' }).pluck('id');
        return open.length === 0;
      });
    }
    await storage({ enabled: true });
    expect((await other(0)).status).to.equal(200);
  });

  it('end with a reason when a worker cannot reach the relay', async () => {
    stopped(relay.server);
    const segment = await openStream();
    let answer = await segment(0);
    for (let i = 0; i < 3 && answer.status === 503; i += 1) answer = await segment(0);
    expect(answer.status).to.equal(500);
    expect(errorOf(answer)).to.deep.include({
      code: 'TRANSCODE_FAILED',
      details: { reason: 'source-read', segment: 0 },
    });
    const [row] = await api.deps.db('transcode_sessions').where({ state: 'failed' }).select('unopened', 'lease_holder');
    expect(row).to.deep.equal({ unopened: 5, lease_holder: null });
  });
});

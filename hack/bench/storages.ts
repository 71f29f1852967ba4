/**
 * Storages against the bare tool in one run: chunks of an upload against the minio client (target: at least 0.8 of its speed, and at most
 * 24 MiB of memory for each chunk in hand), lists over WebDAV and SFTP against `rclone lsf` (1.5), and the first segment of a film on S3,
 * WebDAV and SFTP against the same film on a disk (1.5). `node hack/bench/storages.ts [pairs]` prints a table; BENCH_ONLY=uploads, lists or
 * films leaves out the rest, BENCH_ONLY=films,sftp other kinds of storages too. Needs rclone, apache2 and sshd.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Client } from 'minio';
import { stopSession } from '#areas/streaming/sessions/sessions.store.ts';
import { bucketClient } from '#platform/objects.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { startApiProcess } from '#support/processes.ts';
import { LOOPBACK, type RemotePlace, remotePlaces } from '#support/remote-places.ts';
import { ACCESS, SECRET, startS3 } from '#support/s3.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { TranscodeWorker } from '#workers/transcode/worker.ts';
import { parsedSettings } from '../../api/areas/storage/places.ts';
import { openReader } from '../../api/areas/storage/readers/open.ts';
import type { StorageReader } from '../../api/areas/storage/readers/reader.ts';
import { newPlace, type Place } from '../../test/workers/scan/support.ts';
import { fixtures } from '../fixtures/index.ts';
import { alternate, HEADER, machine, output, row } from './measure.ts';

const PAIRS = Number(process.argv[2] ?? 7);
const MIB = 1 << 20;
const CHUNK = 8 * MIB;
const CHUNKS = 16;
const AT_ONCE = 4;
const FOLDERS = 100;
const FILES_EACH = 20;
const FILM = 'A (2001)/A (2001).mkv';

const ONLY = (process.env['BENCH_ONLY'] ?? '').split(',').filter(Boolean);
/** Whether a part is measured: each word of BENCH_ONLY names it or its kind of storage. */
const isWanted = (...names: string[]): boolean => ONLY.every((word) => names.includes(word));

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};

async function fetched(address: string, headers: Record<string, string>): Promise<Response> {
  const response = await fetch(address, { headers });
  if (!response.ok) throw new Error(`${address} answers ${response.status}`);
  return response;
}

/** Peak resident memory of a process since the last reset (`5` to clear_refs), MiB. */
async function peakMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** One chunk over a plain connection: `fetch` takes more of the processor for its own copies than the server for the chunk. */
async function sendChunk(address: string, chunk: Buffer, headers: Record<string, string>): Promise<void> {
  const own = { 'content-type': 'application/octet-stream', 'content-length': String(chunk.length) };
  const sending = request(address, { method: 'PUT', headers: { ...headers, ...own } });
  sending.end(chunk);
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`chunk answered ${answer.statusCode}: ${body}`);
}

/** Hashes and sends all chunks of a new file, some at once, as the app does. */
async function sendUpload(base: string, person: Person, libraryId: string): Promise<number> {
  const bytes = randomBytes(CHUNK * CHUNKS);
  const name = `${bytes.toString('hex', 0, 6)}.mov`;
  const made = await fetch(`${base}/api/v1/uploads`, {
    method: 'POST',
    headers: { ...person.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ libraryId, files: [{ name, sizeBytes: bytes.length }] }),
  });
  const { items } = (await made.json()) as { items: { upload: { id: string; chunkBytes: number } }[] };
  const upload = items[0]?.upload;
  if (upload?.chunkBytes !== CHUNK) throw new Error(`chunks of ${upload?.chunkBytes}`);
  const left = Array.from({ length: CHUNKS }, (_, index) => index);
  const next = async (): Promise<void> => {
    for (let index = left.shift(); index !== undefined; index = left.shift()) {
      const chunk = bytes.subarray(index * CHUNK, (index + 1) * CHUNK);
      const sha256 = createHash('sha256').update(chunk).digest('hex');
      const address = `${base}/api/v1/uploads/${upload.id}/chunks/${index}`;
      await sendChunk(address, chunk, { ...person.headers, 'x-chunk-sha256': sha256 });
    }
  };
  return timed(() => Promise.all(Array.from({ length: AT_ONCE }, next)));
}

/** As many bytes by the minio client, which sends two parts of 64 MiB, one after the other. */
async function sendBare(client: Client): Promise<number> {
  const bytes = randomBytes(CHUNK * CHUNKS);
  return timed(() => client.putObject('bare', 'film', bytes));
}

/** Prints its row and returns the line about memory. */
async function uploads(api: Api, owner: Person): Promise<string> {
  const place = await newPlace('photos', {}, api);
  const { hostname, port } = new URL(api.config.objectsUrl);
  const client = bucketClient({
    ...{ endPoint: hostname, port: Number(port), useSSL: false, region: 'us-east-1' },
    ...{ accessKey: ACCESS, secretKey: SECRET },
  });
  await client.makeBucket('bare');
  await api.deps.objects.prepare(['foyer-uploads']);
  const { pid, url } = await startApiProcess(api, { FOYER_MEDIA_ROOTS: JSON.stringify(api.config.mediaRoots) });
  await sendUpload(url, owner, place.libraryId);
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await peakMib(pid);
  const found = await alternate(
    PAIRS,
    () => sendUpload(url, owner, place.libraryId),
    () => sendBare(client),
  );
  const each = ((await peakMib(pid)) - before) / AT_ONCE;
  console.log(row({ name: `an upload of ${(CHUNK * CHUNKS) / MIB} MiB, time`, unit: 's', target: '≤ 1.25' }, found));
  return `\nMemory for each chunk in hand: ${each.toFixed(1)} MiB (target 24)`;
}

async function countBelow(reader: StorageReader, folder: string): Promise<number> {
  const { entries } = await reader.list(folder, { most: 10_000 });
  const below = entries.filter(({ kind }) => kind === 'directory');
  const counts: number[] = [];
  const next = async (): Promise<void> => {
    for (let one = below.shift(); one; one = below.shift())
      counts.push(await countBelow(reader, folder ? `${folder}/${one.name}` : one.name));
  };
  await Promise.all(Array.from({ length: 4 }, next));
  return counts.reduce((sum, count) => sum + count, entries.filter(({ kind }) => kind === 'file').length);
}

function rcloneOf(there: RemotePlace, keyFile: string, password: string): string[] {
  const { url, username, host, port, path } = there.settings as Record<string, string>;
  return there.kind === 'webdav'
    ? ['--webdav-url', `${url}`, '--webdav-user', `${username}`, '--webdav-pass', password, ':webdav:']
    : [
        ...['--sftp-host', `${host}`, '--sftp-port', `${port}`, '--sftp-user', `${username}`],
        ...['--sftp-key-file', keyFile, `:sftp:${path}`],
      ];
}

async function lists(kind: 'webdav' | 'sftp', from: string): Promise<void> {
  const there = await remotePlaces[kind](from);
  const keyFile = join(temporaryFolder('key'), 'key');
  await writeFile(keyFile, there.secrets['privateKey'] ?? '', { mode: 0o600 });
  const password = (await output('rclone', ['obscure', there.secrets['password'] ?? 'none'])).trim();
  const args = ['lsf', '-R', '--files-only', '--checkers', '4', ...rcloneOf(there, keyFile, password)];
  const settings = parsedSettings(there.kind, there.settings);
  const config = { mediaRoots: [], clusterNetworks: [], apiServerNetworks: [], storageNetworks: ['127.0.0.0/8'] };
  const expected = FOLDERS * FILES_EACH;
  const found = await alternate(
    PAIRS,
    async () => {
      const reader = openReader({ config }, { ...there, settings });
      const seconds = await timed(async () => {
        const count = await countBelow(reader, '');
        if (count !== expected) throw new Error(`listed ${count} of ${expected}`);
      });
      await reader.close();
      return seconds;
    },
    () =>
      timed(async () => {
        const count = (await output('rclone', args)).trim().split('\n').length;
        if (count !== expected) throw new Error(`rclone listed ${count} of ${expected}`);
      }),
  );
  console.log(row({ name: `${expected} files in ${FOLDERS} folders over ${kind}`, unit: 's', target: '≤ 1.5' }, found));
}

/** From the start of playback to the last byte of the first segment, s. */
async function firstSegment(api: Api, person: Person, itemId: string): Promise<number> {
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const read = async (path: string): Promise<string> => (await fetched(`${api.url}${path}`, person.headers)).text();
  const below = (from: string, name = ''): string => {
    const { pathname, search } = new URL(name, `http://any.example${from}`);
    return pathname + search;
  };
  let id = '';
  const seconds = await timed(async () => {
    const body = { client: { builtIn: 'hls' } };
    const started = await api.as(person).startPlayback({ params: { id: itemId }, body: body as never });
    if (started.status !== 201) throw new Error(JSON.stringify(started.body));
    const { url } = started.body.session;
    id = started.body.session.id;
    const playlist = below(url, lines(await read(url))[0]);
    const segment = below(playlist, lines(await read(playlist))[0]);
    await (await fetched(`${api.url}${segment}`, person.headers)).arrayBuffer();
  });
  await stopSession(api.deps.db, id);
  await api.deps.redis.publish(`foyer:transcode:want:${id}`, 'stop');
  return seconds;
}

async function itemOf(place: Place): Promise<string> {
  await place.scan();
  const [file] = await place.files();
  if (!file?.item_id) throw new Error('the film was not found');
  return file.item_id;
}

async function films(api: Api, owner: Person, film: string): Promise<void> {
  const local = await newPlace('movies', {}, api);
  await mkdir(join(local.path, 'A (2001)'));
  await copyFile(film, join(local.path, FILM));
  const bare = await itemOf(local);
  const folder = temporaryFolder('remote-film');
  await mkdir(join(folder, 'A (2001)'));
  await copyFile(film, join(folder, FILM));
  for (const [kind, start] of Object.entries(remotePlaces).filter(([name]) => isWanted('films', name))) {
    const { settings, secrets } = await start(folder);
    const made = await api.as(owner).createStorage({ body: { name: kind, kind, settings, secrets } as never });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const place = await newPlace('movies', {}, api);
    await rm(place.path, { recursive: true });
    const folders = [{ storageId: made.body.id, path: '' }];
    await api.as(owner).updateLibrary({ params: { id: place.libraryId }, body: { folders } });
    const remote = await itemOf(place);
    await firstSegment(api, owner, remote);
    const found = await alternate(
      PAIRS,
      () => firstSegment(api, owner, remote),
      () => firstSegment(api, owner, bare),
    );
    console.log(row({ name: `first segment of a film on ${kind}, against a disk`, unit: 's', target: '≤ 1.5' }, found));
  }
}

const api = await startApi({ ...LOOPBACK, FOYER_OBJECTS_URL: await startS3() });
const owner = await api.given.owner();
const worker = new TranscodeWorker({ ...api.deps, encoder: SOFTWARE, threads: 1 });
worker.start();
const { made } = await fixtures();
const many = temporaryFolder('many');
for (let n = 0; n < FOLDERS; n += 1) {
  await mkdir(join(many, `Folder ${n}`));
  for (let f = 0; f < FILES_EACH; f += 1) await writeFile(join(many, `Folder ${n}`, `File ${f}.mkv`), `${n} ${f}`);
}
console.log(`\nStorages against the bare tools, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
const memory = isWanted('uploads') ? await uploads(api, owner) : '';
for (const kind of ['webdav', 'sftp'] as const) if (isWanted('lists', kind)) await lists(kind, many);
await films(api, owner, join(made, 'h264-base.mkv'));
console.log(memory);
await worker.stop();
await endAll();
process.exit(0);

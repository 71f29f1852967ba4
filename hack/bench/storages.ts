/**
 * Uploads over the API beside the minio client to the same server (target: at least 0.8 of its speed), and lists of a folder over WebDAV
 * and SFTP beside `rclone lsf` (target: at most 1.5 of its time). `BENCH_PAIRS=3 BENCH_FILES=2000 node hack/bench/storages.ts`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bucketClient } from '#platform/objects.ts';
import { startApi } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { type RemotePlace, sftpPlace, webdavPlace } from '#support/remote-places.ts';
import { ACCESS, SECRET, startS3 } from '#support/s3.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { parsedSettings } from '../../api/areas/storage/places.ts';
import { openReader } from '../../api/areas/storage/readers/open.ts';
import { alternate, HEADER, machine, output, row } from './measure.ts';

const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 3);
const FILES = Number(process.env['BENCH_FILES'] ?? 2000);
const MIB = 1 << 20;
const CHUNK = 8 * MIB;
const SIZE = 64 * MIB;

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

async function uploads(): Promise<string> {
  const objectsUrl = await startS3();
  const api = await startApi({ FOYER_OBJECTS_URL: objectsUrl });
  await api.deps.objects.prepare(['foyer-uploads']);
  const library = await givenLibrary(api.deps.db, 'photos');
  const member = await api.given.member();
  const { hostname, port } = new URL(objectsUrl);
  const client = bucketClient({
    ...{ endPoint: hostname, port: Number(port), useSSL: false, region: 'us-east-1' },
    ...{ accessKey: ACCESS, secretKey: SECRET },
  });
  await client.makeBucket('bench');
  const bytes = randomBytes(SIZE);
  const chunks = Array.from({ length: SIZE / CHUNK }, (_, n) => bytes.subarray(n * CHUNK, (n + 1) * CHUNK));
  const hashes = chunks.map((chunk) => createHash('sha256').update(chunk).digest('hex'));
  const put = async (id: string, n: number): Promise<void> => {
    const response = await fetch(`${api.url}/api/v1/uploads/${id}/chunks/${n}`, {
      method: 'PUT',
      headers: {
        ...member.headers,
        'content-type': 'application/octet-stream',
        'x-chunk-sha256': hashes[n] ?? '',
      },
      body: new Uint8Array(chunks[n] ?? []),
    });
    if (!response.ok) throw new Error(await response.text());
  };
  let made = 0;
  const ours = async (): Promise<number> => {
    made += 1;
    const files = [{ name: `${made}.mov`, sizeBytes: SIZE }];
    const { body } = await api.as(member).createUploads({ body: { libraryId: library.id, files } });
    const id = body.items[0]?.upload?.id ?? '';
    const queue = chunks.map((_, n) => n);
    const sender = async (): Promise<void> => {
      for (let n = queue.shift(); n !== undefined; n = queue.shift()) await put(id, n);
    };
    return seconds(() => Promise.all([sender(), sender(), sender(), sender()])); // the client of minio sends four parts at once
  };
  const theirs = (): Promise<number> => seconds(() => client.putObject('bench', `${Math.random()}`, bytes));
  return row(
    { name: 'upload of 64 MiB', unit: 's', target: '≤ 1.25 (0.8 of the speed)' },
    await alternate(PAIRS, ours, theirs),
  );
}

const remotes: Record<string, (place: RemotePlace) => Promise<string>> = {
  WebDAV: async ({ settings, secrets }) => {
    const pass = (await output('rclone', ['obscure', secrets['password'] ?? ''])).trim();
    return `:webdav,url="${settings['url']}",user=${settings['username']},pass=${pass}:all`;
  },
  SFTP: async ({ settings, secrets }) => {
    const key = join(temporaryFolder('bench-key'), 'key');
    writeFileSync(key, secrets['privateKey'] ?? '', { mode: 0o600 });
    const { port, username, path } = settings;
    return `:sftp,host=127.0.0.1,port=${port},user=${username},key_file="${key}":${path}/all`;
  },
};

async function lists(name: string, start: (from: string) => Promise<RemotePlace>): Promise<string> {
  const from = temporaryFolder('bench-files');
  mkdirSync(join(from, 'all'));
  for (let n = 0; n < FILES; n += 1) writeFileSync(join(from, 'all', `Film ${n} (1999).mkv`), 'x');
  const place = await start(from);
  const settings = parsedSettings(place.kind, place.settings);
  const networks = { mediaRoots: [], clusterNetworks: [], apiServerNetworks: [], storageNetworks: ['127.0.0.0/8'] };
  const remote = (await remotes[name]?.(place)) ?? '';
  const ours = (): Promise<number> =>
    seconds(async () => {
      const reader = openReader({ config: networks }, { ...place, settings });
      const { entries } = await reader.list('all', { most: FILES + 1 });
      await reader.close();
      if (entries.length !== FILES) throw new Error(`${entries.length} entries`);
    });
  const theirs = (): Promise<number> =>
    seconds(async () => {
      const found = (await output('rclone', ['lsf', '--config', '', remote])).trim().split('\n');
      if (found.length !== FILES) throw new Error(`${found.length} entries`);
    });
  await ours(); // the package of the kind is loaded
  return row(
    { name: `list of ${FILES} files over ${name}`, unit: 's', target: '≤ 1.5' },
    await alternate(PAIRS, ours, theirs),
  );
}

console.log(`${machine()}\n${HEADER}`);
console.log(await uploads());
console.log(await lists('WebDAV', webdavPlace));
console.log(await lists('SFTP', sftpPlace));
await endAll();
process.exit(0);

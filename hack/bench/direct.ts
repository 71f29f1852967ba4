// A film played as it is, against nginx with sendfile, in one run.
//   node hack/bench/direct.ts [pairs]       needs nginx and wrk (Debian: nginx-light wrk)
import { execFile, spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startApi } from '#support/api.ts';
import { film } from '#support/hls-session.ts';
import { startApiProcess } from '#support/processes.ts';
import { atEnd, endAll, freePort } from '#support/stores.ts';
import { fixtures } from '../fixtures/index.ts';
import { alternate, cpuSeconds, HEADER, machine, output, row } from './measure.ts';

const run = promisify(execFile);
const PAIRS = Number(process.argv[2] ?? 5);
const CLIENTS = 4;
const MIB = 1 << 20;
const GIB = 1 << 30;

interface Server {
  pid: number;
  url: string;
  headers: string[];
}

/** A playable file of a gibibyte, warm in the page cache: the film is its beginning. */
async function placed(folder: string): Promise<string> {
  const { made } = await fixtures();
  const file = join(folder, 'film.mp4');
  copyFileSync(join(made, 'h264-aac.mp4'), file);
  const block = Buffer.alloc(64 * MIB);
  for (let i = 0; i < GIB / block.length; i++) appendFileSync(file, block);
  return file;
}

/** One process that serves the folder by sendfile. */
async function nginx(folder: string): Promise<Server> {
  const port = await freePort();
  const conf = join(folder, 'nginx.conf');
  writeFileSync(
    conf,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr error;
events {} http { access_log off; sendfile on; server { listen 127.0.0.1:${port}; root ${folder}; } }`,
  );
  const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', conf], { stdio: 'inherit' });
  atEnd(() => void child.kill());
  await sleep(500);
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}/film.mp4`, headers: [] };
}

const sent = ({ headers }: Server): string[] => headers.flatMap((header) => ['-H', header]);

/** Seconds of CPU of the server for a gibibyte, when four read the whole file at once. */
async function cpuPerGib(server: Server): Promise<number> {
  const before = cpuSeconds(server.pid);
  const args = ['-sSf', '-o', '/dev/null', ...sent(server), server.url];
  await Promise.all(Array.from({ length: CLIENTS }, () => run('curl', args)));
  return (cpuSeconds(server.pid) - before) / CLIENTS;
}

/** Median of a range of a mebibyte on four connections, ms. */
async function rangeMs(server: Server): Promise<number> {
  const range = ['-H', `Range: bytes=${100 * MIB}-${101 * MIB - 1}`];
  const text = await output('wrk', ['-t1', '-c4', '-d3s', '--latency', ...range, ...sent(server), server.url]);
  const wrong = /Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1];
  if (wrong) throw new Error(`${wrong} wrong answers from ${server.url}`);
  const [, number, unit] = /50%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'];
}

const api = await startApi();
const folder = api.mediaRoot;
const owner = await api.given.owner();
const { fileId } = await film(api.deps.db, await placed(folder), api.given.storageId);
const { pid, port } = await startApiProcess(api, { FOYER_MEDIA_ROOTS: JSON.stringify(api.config.mediaRoots) });
const ours: Server = {
  pid,
  url: `http://127.0.0.1:${port}/api/v1/files/${fileId}/stream`,
  headers: Object.entries(owner.headers).map(([name, value]) => `${name}: ${value}`),
};
const bare = await nginx(folder);

console.log(`\nDirect play against nginx, ${CLIENTS} clients, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
const measured: [string, string, string, (server: Server) => Promise<number>][] = [
  ['1 GiB, four at once', 'CPU-s/GiB', '≤ 4.5', cpuPerGib],
  ['a range of 1 MiB, four connections, p50', 'ms', '≤ 1.5', rangeMs],
];
for (const [name, unit, target, measure] of measured) {
  await measure(ours);
  const found = await alternate(
    PAIRS,
    () => measure(ours),
    () => measure(bare),
  );
  console.log(row({ name, unit, target }, found));
}
await endAll();
process.exit(0);

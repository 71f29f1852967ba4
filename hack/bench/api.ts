// Requests a CPU-second of the API against bare Koa, by wrk, in one run.
//   node hack/bench/api.ts [seconds] [rows, such as 1,3]
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApi } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { startApiProcess, started } from '#support/processes.ts';
import { endAll, freePort } from '#support/stores.ts';
import { alternate, cpuSeconds, HEADER, machine, output, row } from './measure.ts';

const seconds = Number(process.argv[2] ?? 5);
const PAIRS = 3;

const BARE = `import Koa from 'koa';
const app = new Koa();
app.use((ctx) => { ctx.body = { hello: 'world' }; });
app.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('up'));`;

const WARM = 5000;

/** Sends requests until the code is compiled, as in a server that has run for a while; a page needs more of them than a greeting. */
async function warmed(url: string, headers: string[] = []): Promise<void> {
  const sent = headers.flatMap((header) => ['-H', header]);
  for (let answered = 0; answered < WARM; ) {
    const text = await output('wrk', ['-t1', '-c32', '-d2s', ...sent, url]);
    answered += Number(/(\d+) requests in/.exec(text)?.[1]);
  }
}

async function perCpuSecond(pid: number, url: string, headers: string[] = []): Promise<number> {
  const before = cpuSeconds(pid);
  const args = ['-t1', '-c32', `-d${seconds}s`, ...headers.flatMap((header) => ['-H', header]), url];
  const text = await output('wrk', args);
  const wrong = /Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1];
  if (wrong) throw new Error(`${wrong} wrong answers from ${url}`);
  return Number(/(\d+) requests in/.exec(text)?.[1]) / (cpuSeconds(pid) - before);
}

const api = await startApi();
const owner = await api.given.owner();
const library = await givenLibrary(api.deps.db, 'movies');
for (let i = 0; i < 500; i++)
  await givenItem(api.deps.db, library, { title: `Film ${i}`, year: 1950 + (i % 70), top: true });

const bareFile = join(process.cwd(), 'hack/bench', `.bare-${process.pid}.mjs`);
writeFileSync(bareFile, BARE);
const barePort = await freePort();
const bare = await started([bareFile, String(barePort)], {}, 'up');
const { pid: ours, port } = await startApiProcess(api);
const headers = Object.entries(owner.headers).map(([name, value]) => `${name}: ${value}`);
const at = (path: string): string => `http://127.0.0.1:${port}/api/v1${path}`;
const hello = (): Promise<number> => perCpuSecond(bare, `http://127.0.0.1:${barePort}/`);
const one =
  (path: string, sent = headers) =>
  (): Promise<number> =>
    perCpuSecond(ours, at(path), sent);

console.log(
  `\nAPI overhead: requests a server CPU-second, wrk -c32, ${seconds} s a run, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`,
);
const target = '≥ 0.12';
const unit = 'req/CPU-s';
const measured: [string, string, string[]][] = [
  ['server/live: whole stack, no credential, no store', '/server/live', []],
  ['libraries/{id}: credential and record from Postgres', `/libraries/${library.id}`, headers],
  ['libraries/{id}/items?limit=50 by title', `/libraries/${library.id}/items?limit=50`, headers],
];
const wanted = (process.argv[3] ?? '1,2,3').split(',').map(Number);
for (const [i, [name, path, sent]] of measured.entries()) {
  if (!wanted.includes(i + 1)) continue;
  await hello();
  await warmed(at(path), sent);
  const found = await alternate(PAIRS, one(path, sent), hello);
  console.log(row({ name, unit, target: sent.length > 0 ? target : '≥ 0.45' }, found));
}
rmSync(bareFile);
await endAll();
process.exit(0);

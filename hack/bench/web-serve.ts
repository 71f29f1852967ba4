// Requests a CPU-second for the files of the web app against a bare Koa handler that answers the same bytes, by wrk.
//   node hack/bench/web-serve.ts [seconds]        needs a build of web/ (hack/start or hack/test makes it)
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApi } from '#support/api.ts';
import { startApiProcess, started } from '#support/processes.ts';
import { endAll, freePort } from '#support/stores.ts';
import { alternate, cpuSeconds, HEADER, machine, output, row } from './measure.ts';

const seconds = Number(process.argv[2] ?? 5);
const PAIRS = 5;
const CHUNKS = 'web/build/_app/immutable/chunks';
const BROTLI = ['-H', 'Accept-Encoding: br'];

const [largest] = readdirSync(CHUNKS)
  .filter((name) => name.endsWith('.js.br'))
  .sort((a, b) => statSync(join(CHUNKS, b)).size - statSync(join(CHUNKS, a)).size);
if (!largest) throw new Error('no build of web/');
const chunk = `/_app/immutable/chunks/${largest.slice(0, -3)}`;

const BARE = `import { readFileSync } from 'node:fs';
import Koa from 'koa';
const bytes = readFileSync(process.argv[3]);
const app = new Koa();
app.use((ctx) => { ctx.set('Content-Encoding', 'br'); ctx.type = process.argv[4]; ctx.body = bytes; });
app.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('up'));`;

async function perCpuSecond(pid: number, url: string): Promise<number> {
  const before = cpuSeconds(pid);
  const text = await output('wrk', ['-t1', '-c32', `-d${seconds}s`, ...BROTLI, url]);
  const wrong = /Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1];
  if (wrong) throw new Error(`${wrong} wrong responses from ${url}`);
  return Number(/(\d+) requests in/.exec(text)?.[1]) / (cpuSeconds(pid) - before);
}

const api = await startApi();
const { pid: ours, port } = await startApiProcess(api);
const bareFile = join(process.cwd(), 'hack/bench', `.bare-${process.pid}.mjs`);
writeFileSync(bareFile, BARE);

interface Served {
  path: string;
  /** The compressed bytes. */
  file: string;
  type: string;
}

async function compare(name: string, { path, file, type }: Served): Promise<void> {
  const barePort = await freePort();
  const bare = await started([bareFile, String(barePort), file, type], {}, 'up');
  const [own, theirs] = [`http://127.0.0.1:${port}${path}`, `http://127.0.0.1:${barePort}/`];
  for (const [pid, url] of [
    [ours, own],
    [bare, theirs],
  ] as const)
    await perCpuSecond(pid, url); // until the code is compiled
  const found = await alternate(
    PAIRS,
    () => perCpuSecond(ours, own),
    () => perCpuSecond(bare, theirs),
  );
  console.log(row({ name, unit: 'requests/CPU-s', target: '≥ 0.8' }, found));
}

console.log(`\nFiles of the web app: wrk -c32, ${seconds} s a run, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
await compare('the shell', { path: '/library/0190', file: 'web/build/index.html.br', type: 'text/html' });
const size = statSync(join(CHUNKS, largest)).size;
await compare(`a chunk of ${size} bytes`, { path: chunk, file: join(CHUNKS, largest), type: 'text/javascript' });
rmSync(bareFile);
await endAll();
process.exit(0);

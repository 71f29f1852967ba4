// From the start of an API process to its first answer, and its memory at rest, against bare Koa.
// As it runs on one machine, from its source, and as in an image, from its bundle; the bundle routes at least 576 operations.
//   node hack/bench/start.ts [pairs]
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_OPTIONS } from '#operator/server-environment.ts';
import { startApi } from '#support/api.ts';
import { storesOf } from '#support/processes.ts';
import { endAll, freePort, temporaryFolder } from '#support/stores.ts';
import { alternate, HEADER, machine, output, row } from './measure.ts';

const PAIRS = Number(process.argv[2] ?? 7);
const REST_MS = 5000;

const BARE = `import Koa from 'koa';
const app = new Koa();
app.use((ctx) => { ctx.body = { hello: 'world' }; });
app.listen(Number(process.env.FOYER_PORT), '127.0.0.1');`;

/** Resident memory, MiB. */
const resident = ({ pid }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Milliseconds until the path answers 200; with `rest`, its memory five seconds later instead, MiB. */
async function begun(program: string, path: string, { rest = false } = {}): Promise<number> {
  const port = await freePort();
  const own = { FOYER_PORT: String(port), FOYER_SCRATCH_DIR: temporaryFolder('start') };
  const env = { ...process.env, NODE_OPTIONS, ...stores, ...own };
  const began = performance.now();
  const child = spawn(process.execPath, [program], { env, stdio: 'ignore' });
  const answered = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await answered())) await sleep(5);
  const took = performance.now() - began;
  if (rest) await sleep(REST_MS);
  const memory = resident(child);
  child.kill('SIGKILL');
  return rest ? memory : took;
}

const api = await startApi();
const stores = storesOf(api.config);
const folder = join(import.meta.dirname, `.start-${process.pid}`); // node_modules is found from here
mkdirSync(folder);
process.once('exit', () => rmSync(folder, { recursive: true }));
const bareFile = join(folder, 'bare.mjs');
writeFileSync(bareFile, BARE);
for (const name of ['package.json', 'api', 'workers', 'operator'])
  cpSync(join(import.meta.dirname, '../..', name), join(folder, name), { recursive: true });
// Additional operations: today's routes under other paths, up to the 576 of the whole API.
const routes = join(folder, 'api/routes.ts');
const [head = '', list = ''] = readFileSync(routes, 'utf8').split(' = [\n');
const body = list.slice(0, list.lastIndexOf('];'));
const copies = Array.from({ length: Math.ceil(576 / (body.match(/^ {6}\['/gm) ?? []).length) - 1 }, (_, copy) =>
  body.replace(/^( {6}\['\w+', ')/gm, `$1/made-up-${copy}`).replace(/slug: '/g, `slug: 'made-up-${copy}-`),
);
writeFileSync(routes, `${head} = [\n${[body, ...copies].join('')}];\n`);
await output(process.execPath, ['hack/bundle.ts', folder]);

console.log(`\nStart and rest of one API process, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
const ways: [string, string][] = [
  ['from its source', 'api/main.ts'],
  ['from its bundle', join(folder, 'api/main.ts')],
];
for (const rest of [false, true])
  for (const [way, program] of ways) {
    const ours = () => begun(program, '/api/v1/server/ready', { rest });
    const found = await alternate(rest ? 2 : PAIRS, ours, () => begun(bareFile, '/', { rest }));
    const what = rest
      ? { name: `memory at rest (RSS), ${way}`, unit: 'MiB', target: '≤ 150 MiB' }
      : { name: `start to the first 200, ${way}`, unit: 'ms', target: '≤ 2.5' };
    console.log(row(what, found));
  }
await endAll();
process.exit(0);

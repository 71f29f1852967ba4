// 1,000 Library resources under our operator and under its twin on controller-runtime (hack/bench/twin), by turns, on one control
// plane with one server in memory. Counted in the audit log of the API server.
//   node hack/bench/operator.ts [libraries, 1000 when absent]     BENCH_PAIRS=2 (0: ours alone) BENCH_IDLE=60 (0: memory and rest are left out) BENCH_WORKERS=10 BENCH_NODE='flags of Node'
//   BENCH_ALONE='a command that prints once the machine is quiet, and keeps it quiet until it is ended', for each pair
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Credentials } from '#operator/runtime/credentials.ts';
import { hasStatus } from '#operator/runtime/faults.ts';
import { GROUP_VERSION, type KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { MERGE_PATCH, Rest } from '#operator/runtime/rest.ts';
import { endAll, temporaryFolder } from '#support/stores.ts';
import { controlPlane } from '../../test/cluster/support/cluster.ts';
import { accountFor, kubeconfigFor, operatorOf } from '../../test/cluster/support/operator-process.ts';
import { library, mediaServer } from '../../test/cluster/support/specs.ts';
import { until } from '../../test/cluster/support/until.ts';
import { FLAGS } from '../manifests/operator.ts';
import { LibraryServer } from './library-server.ts';
import { cpuSeconds, machine, median } from './measure.ts';

const COUNT = Number(process.argv[2] ?? 1000);
const PAIRS = Number(process.env.BENCH_PAIRS ?? 2);
const IDLE_S = Number(process.env.BENCH_IDLE ?? 60);
const SINGLES = 10;
const AT_ONCE = 20;
const WORKERS = process.env.BENCH_WORKERS ?? '10';
/** Flags of our process; default: those of its Deployment. */
const NODE = process.env.BENCH_NODE?.split(' ') ?? FLAGS;
const KEY = 'foyer_bench';

const cluster = await controlPlane();
await cluster.kubectl.installKinds();
const rest = new Rest({ credentials: new Credentials(cluster.kubeconfig), metrics: newMetrics() });
const server = await LibraryServer.start();
const twin = `${temporaryFolder('twin')}/twin`;
execFileSync('go', ['build', '-trimpath', '-o', twin, '.'], {
  cwd: new URL('twin', import.meta.url),
  stdio: 'inherit',
});

// Ours as its image has it: bundled.
const image = temporaryFolder('bundle');
execFileSync(process.execPath, ['hack/bundle.ts', image, 'operator'], { stdio: 'inherit' });

const at = (namespace: string, name = '') =>
  `/apis/${GROUP_VERSION}/namespaces/${namespace}/libraries${name && `/${name}`}`;
const create = (path: string, body: object) => rest.write<KubeObject>({ method: 'POST', path, body });

async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const queue = [...all];
  const lane = async () => {
    for (let one = queue.pop(); one !== undefined; one = queue.pop()) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

const libraries = async (namespace: string): Promise<KubeObject[]> =>
  (await rest.read<{ items: KubeObject[] }>({ method: 'GET', path: at(namespace) })).items;

function isReady({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}

type Starter = (namespace: string, kubeconfig: string) => ChildProcess;

const ours: Starter = (namespace, kubeconfig) => {
  const words = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--api-url', server.url, '--workers', WORKERS];
  const ports = ['--host', '127.0.0.1', '--health-port', '0', '--metrics-port', '0'];
  const env = { ...process.env, FOYER_LOG_LEVEL: 'error' };
  return spawn(process.execPath, [...NODE, `${image}/operator/bundle/main.js`, 'cluster', ...words, ...ports], {
    stdio: 'inherit',
    env,
  });
};
const theirs: Starter = (namespace, kubeconfig) => {
  const words = ['-api', server.url, '-namespace', namespace, '-workers', WORKERS];
  return spawn(twin, words, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
};

const residentMiB = ({ pid = 0 }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

const figures = [
  'perSecond',
  'cpu',
  'writes',
  'empty',
  'full',
  'resting',
  'single',
  'idleWrites',
  'idleReads',
  'idleCpu',
] as const;
type Run = Record<(typeof figures)[number], number>;

/** A server whose pods never start: its own controller has little work. */
async function household(namespace: string): Promise<void> {
  const secret = (name: string, stringData: object) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } },
    stringData,
  });
  await cluster.kubectl.apply(
    ...accountFor(namespace),
    { ...mediaServer('home'), metadata: { name: 'home', namespace } },
    secret('home-keys', { 'keys.json': '{"serverId":"01900000-0000-7000-8000-00000000000a"}' }),
    secret('home-operator-key', { key: KEY }),
  );
}

async function emptyMiB(start: Starter, namespace: string, kubeconfig: string): Promise<number> {
  if (IDLE_S === 0) return NaN;
  const child = start(namespace, kubeconfig);
  await sleep(8000);
  const found = residentMiB(child);
  await end(child);
  return found;
}

/** Milliseconds from the resource to its readiness, with all others at rest. */
async function oneMs(namespace: string, name: string): Promise<number> {
  const began = performance.now();
  await create(at(namespace), { ...library(name), metadata: { name } });
  while (!isReady(await rest.read<KubeObject>({ method: 'GET', path: at(namespace, name) }))) await sleep(5);
  return performance.now() - began;
}

/** While BENCH_ALONE keeps the machine quiet. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const command = process.env.BENCH_ALONE;
  if (!command) return work();
  const keeper = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  try {
    await once(keeper.stdout, 'data');
    return await work();
  } finally {
    process.kill(-(keeper.pid ?? 0), 'SIGTERM');
  }
}

async function measured(start: Starter): Promise<Run> {
  server.forget();
  const namespace = await cluster.kubectl.namespace('bench');
  await household(namespace);
  const kubeconfig = await kubeconfigFor(cluster, namespace);
  const names = Array.from({ length: COUNT }, (_, index) => `library-${index}`);
  const empty = await emptyMiB(start, namespace, kubeconfig);
  await inTurns(names, (name) => create(at(namespace), { ...library(name), metadata: { name } }));
  const found = await under(start, { namespace, kubeconfig });
  await inTurns(await libraries(namespace), async ({ metadata: { name } }) => {
    const body = { metadata: { finalizers: null } };
    await rest.write({ method: 'PATCH', path: at(namespace, name), body, contentType: MERGE_PATCH });
  });
  await cluster.kubectl.deleteNamespace(namespace);
  await until('it is gone', () => isGone(namespace), 300_000);
  return { ...found, empty };
}

/** From the start of the process on as many libraries as there are, to their rest. */
async function under(
  start: Starter,
  { namespace, kubeconfig }: { namespace: string; kubeconfig: string },
): Promise<Omit<Run, 'empty'>> {
  const mark = await cluster.audit.mark();
  const began = performance.now();
  const child = start(namespace, kubeconfig);
  await until('all are made', () => server.size >= COUNT, 600_000);
  await until('all are ready', async () => (await libraries(namespace)).every(isReady), 600_000);
  const seconds = (performance.now() - began) / 1000;
  const cpu = cpuSeconds(child.pid ?? 0);
  const about = ({ resource }: { resource: string }) => resource === 'libraries';
  const writes = (await cluster.audit.writes(mark, operatorOf(namespace))).filter(about).length;
  await sleep(5000);
  const singles: number[] = [];
  for (let index = 0; index < SINGLES; index++) singles.push(await oneMs(namespace, `single-${index}`));
  const full = residentMiB(child);
  const idle = await idleOf(namespace, child);
  const resting = residentMiB(child);
  await end(child);
  return { perSecond: COUNT / seconds, cpu, writes, full, resting, single: median(singles), ...idle };
}

const isGone = (namespace: string): Promise<boolean> =>
  rest.read({ method: 'GET', path: `/api/v1/namespaces/${namespace}` }).then(
    () => false,
    (error: unknown) => hasStatus(error, 404),
  );

async function idleOf(namespace: string, child: ChildProcess) {
  if (IDLE_S === 0) return { idleReads: NaN, idleWrites: NaN, idleCpu: NaN };
  await sleep(10_000);
  const mark = await cluster.audit.mark();
  const cpu = cpuSeconds(child.pid ?? 0);
  await sleep(IDLE_S * 1000);
  const requests = (await cluster.audit.since(mark)).filter(({ user }) => operatorOf(namespace).test(user));
  const reads = requests.filter(({ verb }) => ['get', 'list'].includes(verb)).length;
  const writes = requests.filter(
    ({ verb, resource }) => !['get', 'list', 'watch'].includes(verb) && resource !== 'leases',
  );
  return { idleReads: reads, idleWrites: writes.length, idleCpu: cpuSeconds(child.pid ?? 0) - cpu };
}

const found = { ours: [] as Run[], theirs: [] as Run[] };
if (PAIRS === 0) found.ours.push(await measured(ours));
for (let pair = 0; pair < PAIRS; pair++) {
  await alone(async () => {
    for (const [runs, start] of [
      [found.theirs, theirs],
      [found.ours, ours],
      [found.theirs, theirs],
    ] as const) {
      runs.push(await measured(start));
      console.error(`${start === ours ? 'ours' : 'theirs'}: ${runs.at(-1)?.perSecond.toFixed(1)} a second`);
    }
  });
}

const of = (runs: Run[], figure: (typeof figures)[number]) => median(runs.map((run) => run[figure]));
const titles: Record<(typeof figures)[number], string> = {
  perSecond: 'libraries a second, from the start of the process',
  cpu: 'CPU of the process until then, s',
  writes: `writes to the API server for ${COUNT}`,
  empty: 'memory with none, MiB',
  full: `memory with ${COUNT}, MiB`,
  resting: `memory with ${COUNT} at rest, MiB`,
  single: `one more, from apply to Ready, ms (median of ${SINGLES})`,
  idleWrites: `writes in ${IDLE_S} s at rest`,
  idleReads: `reads in ${IDLE_S} s at rest`,
  idleCpu: `CPU in ${IDLE_S} s at rest, s`,
};
const band = (figure: (typeof figures)[number]): string => {
  const ratios = found.theirs.flatMap((run, index) => {
    const after = index % 2 === 0 ? found.theirs[index + 1] : undefined;
    return after ? [run[figure] / after[figure]] : [];
  });
  return Number.isFinite(median(ratios)) ? median(ratios).toFixed(2) : '–';
};
console.log(`\n${COUNT} Library resources, ${PAIRS} pairs, ${WORKERS} workers. ${machine()}\n`);
console.log('| what | ours | controller-runtime | ratio | theirs against theirs |\n| - | -: | -: | -: | -: |');
for (const figure of figures) {
  const [a, b] = [of(found.ours, figure), of(found.theirs, figure)];
  const ratio = b === 0 ? '–' : (a / b).toFixed(2);
  console.log(`| ${titles[figure]} | ${a.toPrecision(3)} | ${b.toPrecision(3)} | ${ratio} | ${band(figure)} |`);
}
server.close();
rest.close();
await endAll();
process.exit(0);

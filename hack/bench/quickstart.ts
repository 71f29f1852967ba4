// The README's two applies on a node that has the images and nothing else: seconds to each step, until the server is Ready.
//   FOYER_CLUSTER=0 node hack/bench/quickstart.ts [runs, 3 when absent]
import { endAll } from '#support/stores.ts';
import { images, node } from '../../test/cluster/support/cluster.ts';
import { Home, INSTALL, READY_MS, SAMPLE } from '../../test/cluster/support/home.ts';
import { machine, median } from './measure.ts';

const RUNS = Number(process.argv[2] ?? 3);
const NAMESPACE = 'foyer';
/** Conditions in the order in which they come to hold. */
const STEPS = ['DatabaseReady', 'RedisReady', 'ObjectsReady', 'MigrationsApplied', 'Ready', 'TranscodeReady'];

const { kubectl, ...cluster } = await node();
await images('product', 'postgres', 'redis', 'minio');

/** Milliseconds from the second apply, by what there was after them. */
async function once(): Promise<Record<string, number>> {
  await kubectl.deleteNamespace(NAMESPACE);
  await kubectl.run(['wait', '--for=delete', `namespace/${NAMESPACE}`, '--timeout=120s']).catch(() => undefined);
  const home = new Home({ kubectl, ...cluster }, NAMESPACE);
  await kubectl.run(['apply', '--server-side', '-f', INSTALL]);
  const began = Date.now();
  await kubectl.run(['apply', '-f', SAMPLE]);
  const taken: Record<string, number> = {};
  for (const type of STEPS) {
    await kubectl.wait(home.named('mediaserver', 'home'), `condition=${type}`, READY_MS / 1000);
    const found = (await home.status()).conditions?.find((condition) => condition.type === type);
    taken[type] = Date.parse(found?.lastTransitionTime ?? '') - began;
  }
  return taken;
}

const runs: Record<string, number>[] = [];
for (let run = 0; run < RUNS; run++) runs.push(await once());
console.log(
  `\nQuickstart, ${RUNS} runs. ${machine()}\n\n| from the second apply to | s | fastest | slowest |\n| - | -: | -: | -: |`,
);
for (const type of STEPS) {
  const seconds = runs.map((run) => (run[type] ?? Number.NaN) / 1000);
  const words = [median(seconds), Math.min(...seconds), Math.max(...seconds)].map((value) => value.toFixed(1));
  console.log(`| ${type} | ${words.join(' | ')} |`);
}
await kubectl.deleteNamespace(NAMESPACE);
await endAll();
process.exit(0);

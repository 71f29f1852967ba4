// hack/test, once what it needs is installed: see its head.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endAll, postgresServer } from '#support/stores.ts';
import { KEPT, keptSeconds, merged, needsCluster, testFiles } from './files.ts';
import { runGate, type Step, verdict } from './gate.ts';
import { killLanes } from './lanes.ts';
import { prepareCluster } from './prepare.ts';

const STEPS: readonly Step[] = [
  {
    name: 'lint, types of promises, layers, sizes',
    command: 'oxlint --type-aware --deny-warnings api workers operator hack test'.split(' '),
  },
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'generated files', command: [process.execPath, 'hack/generate.ts', '--check'] },
  { name: 'format and syntax', command: ['biome', 'ci', '--colors=off', '--diagnostic-level=error', '.'] },
];

const MINUTE = 60_000;
/** A cluster may have to be built and brought up by the first file that needs it. */
const CLUSTER_MS = 20 * MINUTE;

/** Far beyond what a file takes on a busy machine: what is not over by then hangs. */
function fileMs(seconds: Record<string, number>, file: string): number {
  const known = seconds[file];
  return (known === undefined ? 20 * MINUTE : 5 * MINUTE + known * 6000) + (needsCluster(file) ? CLUSTER_MS : 0);
}

/** `--changed` may stand alone; parseArgs wants a value of it. */
const words = process.argv.slice(2).flatMap((word, index, all) => {
  const alone = word === '--changed' && (all[index + 1] ?? '-').startsWith('-');
  return alone ? ['--changed=main'] : [word];
});
const { values, positionals } = parseArgs({
  args: words,
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    without: { type: 'string' },
    changed: { type: 'string' },
    lanes: { type: 'string', default: String(availableParallelism() + 1) },
    'keep-seconds': { type: 'boolean', default: false },
  },
});

const { full, without, changed } = values;
const pattern = positionals[0];
const files = testFiles({
  full,
  ...(pattern && { pattern }),
  ...(without && { without }),
  ...(changed && { changedSince: changed }),
});
const seconds = keptSeconds();
const began = performance.now();

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    killLanes();
    void endAll().finally(() => process.exit(1));
  });

const result = await runGate({
  steps: pattern ? [] : STEPS,
  files,
  seconds,
  lanes: Number(values.lanes),
  run: {
    env: { NODE_COMPILE_CACHE: resolve('.cache/node'), GATE_POSTGRES: files.length > 0 ? await postgresServer() : '' },
    bounds: { fileMs: (file) => fileMs(seconds, file), endMs: 5 * MINUTE },
  },
  cluster: prepareCluster(files.some(needsCluster)),
  print: (line) => process.stdout.write(`${line}\n`),
});
await endAll();
if (values['keep-seconds']) writeFileSync(KEPT, merged(seconds, result.seconds));
const { text, code } = verdict(result);
process.stdout.write(`${files.length} files in ${((performance.now() - began) / 1000).toFixed(0)} s\n${text}`);
process.exit(code);

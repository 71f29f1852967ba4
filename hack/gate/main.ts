// hack/test, once what it needs is installed: see its head.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { endAll, postgresServer } from '#support/stores.ts';
import { KEPT, keptSeconds, merged, needsCluster, testFiles, WrongUse } from './files.ts';
import { runGate, type Step, verdict } from './gate.ts';
import { killLanes } from './lanes.ts';
import { type Options, optionsOf } from './options.ts';
import { prepareCluster } from './prepare.ts';

const WEB_TYPES =
  'cd web && node vite/messages.ts && ./node_modules/.bin/svelte-kit sync && ./node_modules/.bin/svelte-check --threshold warning --fail-on-warnings';

/** The longest first. */
const STEPS: readonly Step[] = [
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'lint, types of promises, layers, sizes',
    command: 'oxlint --type-aware --deny-warnings api workers operator hack test'.split(' '),
  },
  { name: 'web: types of Svelte and TypeScript', command: ['bash', '-c', WEB_TYPES] },
  { name: 'generated files', command: [process.execPath, 'hack/generate.ts', '--check'] },
  { name: 'format and syntax', command: ['biome', 'ci', '--colors=off', '--diagnostic-level=error', '.'] },
];

const MINUTE = 60_000;
/** A cluster may have to be built and brought up by the first file that needs it. */
const CLUSTER_MS = 20 * MINUTE;

/** Far longer than a file takes on a busy machine: a file that has not ended by then hangs. */
function fileMs(seconds: Record<string, number>, file: string): number {
  const known = seconds[file];
  return (known === undefined ? 20 * MINUTE : 5 * MINUTE + known * 6000) + (needsCluster(file) ? CLUSTER_MS : 0);
}

async function main(options: Options): Promise<number> {
  const began = performance.now();
  const files = testFiles(options);
  const seconds = keptSeconds();
  const result = await runGate({
    steps: options.pattern ? [] : STEPS,
    files,
    seconds,
    lanes: options.lanes,
    run: {
      env: {
        NODE_COMPILE_CACHE: resolve('.cache/node'),
        GATE_POSTGRES: files.length > 0 ? await postgresServer() : '',
      },
      bounds: { fileMs: (file) => fileMs(seconds, file), endMs: 5 * MINUTE },
    },
    cluster: prepareCluster(files.some(needsCluster)),
    print: (line) => process.stdout.write(`${line}\n`),
  });
  await endAll();
  if (options.keepSeconds) writeFileSync(KEPT, merged(seconds, result.seconds));
  const { text, code } = verdict(result);
  const took = (performance.now() - began) / 1000;
  process.stdout.write(`${files.length} files in ${took.toFixed(0)} s\n${text}`);
  return code;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    killLanes();
    void endAll().finally(() => process.exit(1));
  });

try {
  process.exit(await main(optionsOf(process.argv.slice(2))));
} catch (error) {
  if (!(error instanceof WrongUse)) throw error;
  process.stderr.write(`hack/test: ${error.message}\n`);
  process.exit(2);
}

// A process of the gate that runs test files one after another, each in a mocha of its own, on modules that are loaded once.
// Its standard output is a file of the gate, which prints the part of each file in which something failed.
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { Worker } from 'node:worker_threads';
import Mocha from 'mocha';
import '#support/hooks.ts';
import { PATIENCE } from '#support/patience.ts';
import { beginFile, endAll, endFile } from '#support/stores.ts';

/** The counts of one file. */
export interface Counts {
  passed: number;
  failed: number;
  cpu: number;
}

/** What its process took of the processors, s, with the children of it that have ended; not what Postgres and Redis took. */
function cpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const [user = 0, system = 0, userOfChildren = 0, systemOfChildren = 0] = fields.slice(11, 15).map(Number);
  return (user + system + userOfChildren + systemOfChildren) / TICKS;
}
/** Linux counts so for programs on every machine. */
const TICKS = 100;

/** Prints what failed, and nothing else. */
class Failures extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once('end', () => {
      if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
    });
  }
}

const limit = Reflect.get(Mocha.Runnable.prototype, 'timeout') as (this: Mocha.Runnable, ms?: string | number) => never;
Mocha.Runnable.prototype.timeout = function (this: Mocha.Runnable, ms?: string | number) {
  if (ms === undefined) return limit.call(this);
  return limit.call(this, typeof ms === 'number' ? ms * PATIENCE : ms);
};

const rootHooks: Mocha.RootHookObject = {
  beforeAll: beginFile,
  async afterAll(this: Mocha.Context) {
    this.timeout(300_000);
    await endFile();
  },
};

async function run(file: string): Promise<Counts> {
  const before = cpuSeconds();
  const mocha = new Mocha({ timeout: 60_000, reporter: Failures, forbidOnly: true, color: false, rootHooks });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    process.stdout.write(`${(error as Error).stack}\n`);
    return { passed: 0, failed: 1, cpu: cpuSeconds() - before };
  }
  return new Promise((resolve) => {
    const runner = mocha.run(() => {
      const { passes = 0, failures = 0 } = runner.stats ?? {};
      resolve({ passed: passes, failed: failures, cpu: cpuSeconds() - before });
      mocha.dispose();
    });
  });
}

process.on('message', (file: string | object) => {
  if (typeof file === 'string') void run(file).then((counts) => process.send?.(counts, () => flushCompileCache()));
  else void endAll().then(() => process.exit(0)); // a rejection ends it too, and not with 0
});

/** Looks from a thread of its own, which also sees it when a file never lets go of this one. */
const WATCH = `const { workerData: gate } = require('node:worker_threads');
setInterval(() => { if (process.ppid !== gate) end(); }, 500);
function end() {
  try { process.kill(-process.pid, 'SIGKILL'); } catch { process.kill(process.pid, 'SIGKILL'); } // it leads a group only where the gate started it
}`;
new Worker(WATCH, { eval: true, workerData: process.ppid }).unref();
// The gate is gone.
process.once('disconnect', () => process.exit(1));

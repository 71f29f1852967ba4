// Breaks one rule at a time in a worktree of HEAD, and shows whether the test that is named for it notices.
//   node hack/breaks/main.ts [--skip-unbroken] [PATTERN]
// PATTERN selects breaks by rule, file or test. Each test first runs without a break and must pass; --skip-unbroken leaves that out.
// Ends with 0 when every break is noticed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Break, broken } from './break.ts';
import { breaks } from './list.ts';
import { build, runTest } from './run.ts';
import { addWorktree } from './worktree.ts';

type Result = 'noticed' | 'not noticed' | 'does not apply' | 'does not build';

const { values, positionals } = parseArgs({
  options: { 'skip-unbroken': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const pattern = new RegExp(positionals[0] ?? '', 'i');
const chosen = breaks
  .filter(({ rule, file, test }) => pattern.test(`${rule}\n${file}\n${test}`))
  // Those of the web app come last: the others run on the build that is there.
  .toSorted((a, b) => Number(a.file.startsWith('web/')) - Number(b.file.startsWith('web/')));

const print = (...columns: string[]): void => void process.stdout.write(`${columns.join('  ')}\n`);

async function outcome(folder: string, one: Break): Promise<[Result, string]> {
  const file = join(folder, one.file);
  const source = readFileSync(file, 'utf8');
  const changed = broken(source, one);
  if (changed === undefined) return ['does not apply', one.file];
  writeFileSync(file, changed);
  try {
    const fault = await build(folder);
    if (fault !== undefined) return ['does not build', fault.trim().slice(-300)];
    const { failures } = await runTest(folder, one);
    return failures.length > 0 ? ['noticed', failures.join(' | ')] : ['not noticed', `${one.test}: ${one.title}`];
  } finally {
    writeFileSync(file, source);
  }
}

/** The tests that fail, or do not exist, without a break. */
async function unbrokenFaults(folder: string): Promise<string[]> {
  const tests = new Map(chosen.map((one) => [JSON.stringify([one.test, one.title, one.env]), one]));
  const faults: string[] = [];
  const fault = await build(folder);
  if (fault !== undefined) return [fault];
  for (const one of tests.values()) {
    const { passes, failures } = await runTest(folder, one);
    if (failures.length > 0 || passes === 0)
      faults.push(failures.join(' | ') || `${one.test} has no test ${one.title}`);
  }
  return faults;
}

async function main(folder: string): Promise<number> {
  const faults = values['skip-unbroken'] ? [] : await unbrokenFaults(folder);
  for (const fault of faults) print('fails without a break', fault);
  if (faults.length > 0) return 2;
  let missed = 0;
  for (const one of chosen) {
    const [result, why] = await outcome(folder, one);
    if (result !== 'noticed') missed += 1;
    print(result.padEnd('does not apply'.length), one.rule, `(${why})`);
  }
  print(`${chosen.length} breaks, ${missed} not noticed`);
  return missed === 0 ? 0 : 1;
}

const worktree = addWorktree(resolve(import.meta.dirname, '../..'));
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    worktree.remove();
    process.exit(1);
  });
try {
  process.exitCode = await main(worktree.folder);
} finally {
  worktree.remove();
}

// Runs the test of a break in its worktree, on a build of the sources as they are there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from './break.ts';

/** Outcome of the tests of a title. */
export interface Tested {
  passes: number;
  /** The titles with the first line of the error. */
  failures: string[];
}

interface Report {
  stats: { passes: number };
  failures: { fullTitle: string; err: { message?: string } }[];
}

const BUILD = 'root=$PWD && . hack/install.sh && build_web "$root"';

/** Runs a command in the worktree; its output when it failed. */
async function failing(
  folder: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string | undefined> {
  const [command = '', ...rest] = words;
  const path = `${join(folder, 'node_modules/.bin')}:${process.env.PATH}`;
  const child = spawn(command, rest, { cwd: folder, env: { ...process.env, ...env, PATH: path } });
  const stop = (): void => void child.kill();
  process.once('exit', stop);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
  const [code] = await once(child, 'close');
  process.off('exit', stop);
  return code === 0 ? undefined : output;
}

/** Builds the web app when its sources changed; the output of a build that failed. */
export const build = (folder: string): Promise<string | undefined> => failing(folder, ['bash', '-c', BUILD]);

/** Runs the tests of a file whose title has a text, until the first failure. */
export async function runTest(
  folder: string,
  { test, title, env }: Pick<Break, 'test' | 'title' | 'env'>,
): Promise<Tested> {
  const report = join(folder, '.cache/report.json');
  rmSync(report, { force: true });
  const options = ['--bail', '--fgrep', title, '--reporter', 'json', '--reporter-option', `output=${report}`];
  const output = await failing(folder, ['mocha', ...options, test], env);
  try {
    const { stats, failures } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const lineOf = ({ fullTitle, err }: Report['failures'][number]): string =>
      `${fullTitle}: ${err.message?.split('\n')[0] ?? ''}`;
    return { passes: stats.passes, failures: failures.map(lineOf) };
  } catch {
    throw new Error(`${test} did not run:\n${output}`);
  }
}

// The sub-commands of `operator local`; main.ts only declares them.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Refused } from '../refused.ts';
import { until } from '../server-api/server-client.ts';
import { type Format, printStatus } from '../status-print.ts';
import { openOnce } from './browser.ts';
import { nodeArguments } from './desired.ts';
import { readJson } from './files.ts';
import { CannotStart } from './first-start.ts';
import { BadFiles, LocalOperator, type LocalOptions } from './local-operator.ts';
import { AlreadyRunning, holderOf, takeLock, wasKilled } from './lock.ts';
import { endOrphans } from './orphans.ts';
import { Source } from './source.ts';
import { freePort, portFault, portIsFree, State } from './state.ts';
import { readStatus } from './status-file.ts';

export interface RunOptions {
  file: string[];
  data: string;
  port: number;
  openSetup?: boolean;
  /** Opens the server in the browser of the desktop. */
  browser?: boolean;
}

/** A child that a killed operator had just started is not recorded; the guard ends it within this time. */
const LEAVING_MS = 10_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (line: string): void => void process.stderr.write(`${line}\n`);

export async function runLocal(options: RunOptions): Promise<void> {
  const dir = resolve(options.data);
  const files = options.file.map((file) => resolve(file));
  checkFiles(files);
  const port = options.port || (await freePort());
  const state = new State(dir);
  const patienceMs = wasKilled(dir) ? LEAVING_MS : 1;
  const release = locked(dir, port);
  try {
    const ended = await endOrphans(dir);
    if (ended.length > 0) warn(`ended remaining processes of a killed operator: ${ended.join(', ')}`);
    if (!(await until(() => portIsFree(port), patienceMs))) throw new Refused((await portFault(port)) ?? 'try again');
    const operator = new LocalOperator(state, { ...choicesOf(options), port, files, say, warn });
    await operator.run(stopSignal(operator));
  } catch (error) {
    throw error instanceof BadFiles || error instanceof CannotStart ? new Refused(error.message) : error;
  } finally {
    release();
  }
}

const choicesOf = ({ openSetup = false, browser = false }: RunOptions): Pick<LocalOptions, 'openSetup' | 'open'> => ({
  openSetup,
  open: browser ? openOnce() : () => undefined,
});

/** Before any write: invalid files leave no data directory behind. */
function checkFiles(files: readonly string[]): void {
  const source = new Source(files);
  source.read(new Map());
  if (source.isRefused) throw new Refused(source.problems.join('\n'));
}

function locked(dir: string, port: number): () => void {
  try {
    return takeLock(dir, port);
  } catch (error) {
    throw error instanceof AlreadyRunning ? new Refused(error.message) : error;
  }
}

/** The first Ctrl-C or SIGTERM stops in order, the second kills. */
function stopSignal(operator: LocalOperator): AbortSignal {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) operator.kill();
    stopping.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return stopping.signal;
}

export function showStatus(data: string, format: Format): void {
  const dir = resolve(data);
  const items = readStatus(dir);
  if (!items) throw new Refused(`nothing was ever started in ${dir}`);
  process.stdout.write(printStatus(items, format));
  if (!holderOf(dir)) warn('It does not run now; this is the last observed state.');
}

/** Lets the server create a reset token for the owner, and prints the link. */
export async function recoverOwner(data: string): Promise<void> {
  const dir = resolve(data);
  const holder = holderOf(dir);
  const env = readJson(join(dir, 'run', 'environment.json')) as Record<string, string> | undefined;
  if (!holder || !env) throw new Refused(`nothing runs in ${dir}: start it first`);
  const { command, args, cwd } = nodeArguments('api/recover-owner.ts');
  const { stdout } = await promisify(execFile)(command, args, { cwd, env });
  const { username, token, expiresAt } = JSON.parse(stdout) as { username: string; token: string; expiresAt: string };
  say(`recover http://127.0.0.1:${holder.port}/reset#token=${token}`);
  warn(`For the owner ${username}; works once, until ${expiresAt}.`);
}

// Processes that run test files (lane.ts): what ends, hangs or says nothing counts as failed, so that no file is ever absent.
import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counts } from './lane.ts';

/** Ends a lane, with all that its files left to the end. */
export const END = { end: true };

export interface Outcome extends Counts {
  file: string;
  seconds: number;
  /** Printed while it ran. */
  output: string;
}

export interface Bounds {
  /** The most that a file may take. */
  fileMs: (file: string) => number;
  /** The longest that the end of a lane may take. */
  endMs: number;
}

const LANE = new URL('./lane.ts', import.meta.url);

const living = new Set<ChildProcess>();

/** With all that a lane started, but for what left its process group. */
function kill(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => (exitCode ?? signalCode) !== null;

/** When the gate itself is ended. */
export function killLanes(): void {
  for (const child of living) kill(child);
}

/** One process at a time: another is started where the one before has ended. */
class Lane {
  readonly #env: NodeJS.ProcessEnv;
  readonly #bounds: Bounds;
  readonly #folder = mkdtempSync(join(tmpdir(), 'foyer-lane-'));
  readonly #log = join(this.#folder, 'log');
  #child: ChildProcess | undefined;
  #last = '';

  constructor(env: NodeJS.ProcessEnv, bounds: Bounds) {
    this.#env = env;
    this.#bounds = bounds;
  }

  #start(): ChildProcess {
    const log = openSync(this.#log, 'a');
    const env = { ...process.env, GATE_PATIENCE: '2', ...this.#env };
    const child = fork(LANE, { env, detached: true, stdio: ['ignore', log, log, 'ipc'] });
    closeSync(log);
    living.add(child);
    child.once('exit', () => living.delete(child));
    return child;
  }

  /** What it printed from there on. */
  #printed(from: number): string {
    return readFileSync(this.#log).subarray(from).toString();
  }

  /** Runs a file. A process that ended since the file before is a fault of that one: it comes as a second outcome. */
  async run(file: string): Promise<Outcome[]> {
    const late = this.#child && hasEnded(this.#child) ? this.#fault(this.#child) : [];
    if (late.length > 0 || !this.#child) this.#child = this.#start();
    const child = this.#child;
    this.#last = file;
    const from = statSync(this.#log).size;
    const began = performance.now();
    const limitMs = this.#bounds.fileMs(file);
    const answer = await answerOf(child, file, limitMs);
    const seconds = (performance.now() - began) / 1000;
    if (typeof answer === 'object') {
      const none = answer.passed + answer.failed === 0;
      const output = this.#printed(from) + (none ? 'no test ran\n' : '');
      return [...late, { ...answer, failed: none ? 1 : answer.failed, file, seconds, output }];
    }
    kill(child);
    this.#child = undefined;
    return [...late, { file, passed: 0, failed: 1, cpu: 0, seconds, output: `${this.#printed(from)}${answer}\n` }];
  }

  #fault({ exitCode, signalCode }: ChildProcess): Outcome[] {
    const how = `its process did not end well after it (${signalCode ?? exitCode ?? 'it hung'})`;
    const output = `${this.#printed(0).slice(-4000)}\n${how}\n`;
    return [{ file: this.#last, passed: 0, failed: 1, cpu: 0, seconds: 0, output }];
  }

  async end(): Promise<Outcome[]> {
    const child = this.#child;
    this.#child = undefined;
    const late = child ? await this.#endOf(child) : [];
    rmSync(this.#folder, { recursive: true, force: true });
    return late;
  }

  async #endOf(child: ChildProcess): Promise<Outcome[]> {
    if (hasEnded(child)) return this.#fault(child);
    await answerOf(child, END, this.#bounds.endMs);
    kill(child);
    return child.exitCode === 0 ? [] : this.#fault(child);
  }
}

/** The counts, or a sentence that says why there are none. */
function answerOf(child: ChildProcess, message: string | typeof END, limitMs: number): Promise<Counts | string> {
  const { promise, resolve } = Promise.withResolvers<Counts | string>();
  const onMessage = (counts: unknown): void => resolve(counts as Counts);
  const onExit = (code: number | null, signal: string | null): void =>
    resolve(`its process ended (${signal ?? code}) before the file had ended`);
  const timer = setTimeout(() => resolve(`not ended after ${limitMs / 1000} s`), limitMs);
  child.once('message', onMessage);
  child.once('exit', onExit);
  child.send(message, (error) => error && resolve(`its process could not be reached: ${error.message}`));
  return promise.finally(() => {
    clearTimeout(timer);
    child.off('message', onMessage);
    child.off('exit', onExit);
  });
}

export interface Run {
  lanes: number;
  env?: NodeJS.ProcessEnv;
  bounds: Bounds;
  onOutcome?: (outcome: Outcome) => void;
}

/** Every file once, on so many processes; in the order given as processes become free. */
export async function runFiles(
  files: readonly string[],
  { lanes, env = {}, bounds, onOutcome }: Run,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const queue = [...files];
  const take = (some: readonly Outcome[]): void => {
    for (const outcome of some) {
      outcomes.push(outcome);
      onOutcome?.(outcome);
    }
  };
  const drain = async (): Promise<void> => {
    const lane = new Lane(env, bounds);
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) take(await lane.run(file));
    take(await lane.end());
  };
  await Promise.all(Array.from({ length: Math.min(lanes, files.length) }, drain));
  return outcomes;
}

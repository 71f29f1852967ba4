// One run of the gate: the steps, then test files side by side, then the files that want the machine alone, then what failed once more.
import { spawn } from 'node:child_process';
import { longestFirst, needsCluster, runsAlone } from './files.ts';
import { type Outcome, type Run, runFiles } from './lanes.ts';

export interface Step {
  name: string;
  command: readonly string[];
}

export interface Gate {
  steps: readonly Step[];
  files: readonly string[];
  seconds: Record<string, number>;
  /** Files at a time. */
  lanes: number;
  run: Pick<Run, 'bounds' | 'env'>;
  /** Up to so many failing files are tried again; default 8. More are a fault of the product (hack/decisions/023). */
  againMax?: number;
  /** Resolves once suites that need a cluster can run. */
  cluster: () => Promise<void>;
  print: (line: string) => void;
}

export interface Result {
  passed: number;
  failed: number;
  unsteady: string[];
  /** What each file took, of those that passed. */
  seconds: Map<string, number>;
}

const AGAIN_MAX = 8;
const TAIL = 60;
/** Lines of a failure that are repeated at the end, since logs of CI are cut in the middle. */
const REASON_LINES = 24;

function ended({ command: [program = '', ...words] }: Step): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => parts.push(part));
    child.once('error', (error) => resolve({ ok: false, output: error.message }));
    child.once('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(parts).toString() }));
  });
}

const line = (ok: boolean, seconds: number, what: string): string =>
  `  ${ok ? 'ok  ' : 'FAIL'} ${seconds.toFixed(1).padStart(6)} s  ${what}`;

class Running {
  readonly #gate: Gate;
  /** By file: a second outcome of a file adds to the first. */
  readonly outcomes = new Map<string, Outcome>();
  readonly #reasons: string[] = [];
  passedSteps = 0;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  async steps(): Promise<void> {
    for (const step of this.#gate.steps) {
      const began = performance.now();
      const { ok, output } = await ended(step);
      if (ok) this.passedSteps += 1;
      this.#gate.print(line(ok, (performance.now() - began) / 1000, step.name));
      if (!ok) this.#gate.print(output.split('\n').slice(-TAIL).join('\n'));
    }
  }

  async files(files: readonly string[], lanes: number): Promise<void> {
    await runFiles(files, { ...this.#gate.run, lanes, onOutcome: (outcome) => this.#take(outcome) });
  }

  async cluster(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    await this.#gate.cluster();
    await this.files(files, 1);
  }

  /** Once more, alone: what passes then is named as unsteady and does not fail the gate. */
  async again(): Promise<string[]> {
    const files = this.failing();
    if (files.length === 0 || files.length > (this.#gate.againMax ?? AGAIN_MAX)) return [];
    for (const file of files) {
      this.#gate.print(`  once more, alone: ${file}`);
      this.outcomes.delete(file);
      await this.files([file], 1);
    }
    const steady = this.failing();
    return files.filter((file) => !steady.includes(file));
  }

  failing(): string[] {
    return [...this.outcomes.values()].filter(({ failed }) => failed > 0).map(({ file }) => file);
  }

  /** Repeats how each file failed, since a log may be kept by its end alone. */
  printReasons(): void {
    for (const reason of this.#reasons) this.#gate.print(reason);
  }

  #take(outcome: Outcome): void {
    const { file, passed, failed, seconds, cpu, output } = outcome;
    const before = this.outcomes.get(file);
    const { passed: p = 0, failed: f = 0, seconds: s = 0 } = before ?? {};
    this.outcomes.set(file, { ...outcome, passed: p + passed, failed: f + failed, seconds: s + seconds });
    this.#gate.print(
      line(
        failed === 0,
        seconds,
        `${file} (${failed > 0 ? `${failed} of ` : ''}${passed + failed}; CPU ${cpu.toFixed(1)} s)`,
      ),
    );
    if (failed === 0) return;
    this.#gate.print(output.trimEnd());
    this.#reasons.push(`  how ${file} failed:\n${output.trim().split('\n').slice(0, REASON_LINES).join('\n')}`);
  }
}

export async function runGate(gate: Gate): Promise<Result> {
  const { files, seconds, steps, lanes } = gate;
  const running = new Running(gate);
  const alone = files.filter(runsAlone);
  const together = files.filter((file) => !alone.includes(file));
  const onCluster = together.filter(needsCluster);
  const plain = together.filter((file) => !needsCluster(file));
  await running.steps(); // concurrent with them a suite would take minutes longer, and they take most of the memory
  await Promise.all([running.files(longestFirst(plain, seconds), lanes), running.cluster(onCluster)]);
  if (alone.some(needsCluster)) await gate.cluster();
  await running.files(alone, 1);
  const unsteady = await running.again();
  running.printReasons();
  for (const file of unsteady) gate.print(`  unsteady: ${file}`);
  const outcomes = [...running.outcomes.values()];
  const absent = files.filter((file) => !running.outcomes.has(file));
  for (const file of [...running.failing(), ...absent]) gate.print(`  failed: ${file}`);
  const sum = (of: 'passed' | 'failed'): number => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  return {
    passed: running.passedSteps + sum('passed'),
    failed: steps.length - running.passedSteps + sum('failed') + absent.length,
    unsteady,
    seconds: new Map(outcomes.filter(({ failed }) => failed === 0).map((outcome) => [outcome.file, outcome.seconds])),
  };
}

/** The last lines, which scripts read. A run that tested nothing has not passed. */
export function verdict({ passed, failed, unsteady }: Result): { text: string; code: number } {
  return {
    text: `${unsteady.length} unsteady\n${passed} passed, ${failed} failed\n`,
    code: failed === 0 && passed > 0 ? 0 : 1,
  };
}

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** Seconds of CPU that a process and its reaped children have used. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** A clock that all processes of the machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2
    ? (sorted[Math.floor(middle)] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** Runs a program to its end; throws with its error output when it fails. */
export async function output(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program}: ${err.slice(-500)}`);
  return out;
}

export interface Pairs {
  /** Ratio of ours to theirs, a pair each. */
  ratios: number[];
  ours: number[];
  theirs: number[];
  /** Theirs against theirs: the noise of this machine now. */
  band: number[];
}

/** Alternates ours and theirs `pairs` times, with a second run of theirs for the noise band. */
export async function alternate(
  pairs: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
): Promise<Pairs> {
  const found: Pairs = { ratios: [], ours: [], theirs: [], band: [] };
  for (let i = 0; i < pairs; i++) {
    const a = await theirs();
    const b = await ours();
    const c = await theirs();
    found.theirs.push(a, c);
    found.ours.push(b);
    found.ratios.push((2 * b) / (a + c));
    found.band.push(a / c);
  }
  return found;
}

/** A row of the table; says so when the machine was too restless to believe it. */
export function row(what: { name: string; unit: string; target: string }, found: Pairs): string {
  const { name, unit, target } = what;
  const band = median(found.band);
  const calm = band > 0.8 && band < 1.25;
  const cells = [
    name,
    median(found.ours).toPrecision(3),
    median(found.theirs).toPrecision(3),
    unit,
    calm ? median(found.ratios).toFixed(2) : 'refused',
    band.toFixed(2),
    target,
  ];
  return `| ${cells.join(' | ')} |`;
}

export const HEADER =
  '| what | ours | bare | unit | ratio (median of pairs) | bare against bare | target |\n|---|---|---|---|---|---|---|';

export function machine(): string {
  return `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
}

// Test files: which there are, which of them a run is for, and in which order.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type Tree, testsReached } from './reach.ts';

/** What who called it can put right. */
export class WrongUse extends Error {}

export interface Asked {
  full: boolean;
  /** Only files whose path has it. */
  pattern?: string;
  /** Not the files whose path has it. */
  without?: string;
  /** Only what differs from this commit can reach. */
  changedSince?: string;
}

const git = (...words: string[]): string[] =>
  execFileSync('git', words, { encoding: 'utf8', maxBuffer: 64 << 20 })
    .split('\0')
    .filter(Boolean);

/** Every file of the working tree that git does not ignore. */
const present = (): string[] =>
  git('ls-files', '-z', '--cached', '--others', '--exclude-standard').filter((file) => existsSync(file));

/** Files of the working tree that differ from a commit; deleted files are included. */
function changedSince(commit: string): string[] {
  const { status, stdout } = spawnSync('git', ['merge-base', commit, 'HEAD'], { encoding: 'utf8' });
  if (status !== 0) throw new WrongUse(`git knows no commit ${commit} that this one grew from`);
  const base = stdout.trim();
  const tracked = git('diff', '-z', '--name-only', '--no-renames', base);
  return [...tracked, ...git('ls-files', '-z', '--others', '--exclude-standard')];
}

/** The working tree, with what a change took out of it. */
export const treeOf = (changed: readonly string[]): Tree => ({
  files: new Set([...present(), ...changed]),
  read: (file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
});

export function testFiles({ full, pattern, without, changedSince: base }: Asked): string[] {
  const tests = present()
    .filter((file) => /^test\/.*\.test\.ts$/.test(file))
    .filter((file) => full || !/\.slow\.test\.ts$/.test(file))
    .filter((file) => (!pattern || new RegExp(pattern).test(file)) && !(without && new RegExp(without).test(file)))
    .sort();
  if (!base) return tests;
  const changed = changedSince(base);
  return testsReached(tests, changed, treeOf(changed));
}

/** Suites that need a cluster share one, so one process has them all. */
export const needsCluster = (file: string): boolean => /^test\/cluster\/.*\.slow\.test\.ts$/.test(file);

/** Measures, or counts what belongs to the whole machine: `// Runs alone: why` on a line of its own. */
export const runsAlone = (file: string): boolean => /^\/\/ Runs alone: /m.test(readFileSync(file, 'utf8'));

const KEPT = new URL('./seconds.json', import.meta.url);

export const keptSeconds = (): Record<string, number> =>
  existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Record<string, number>) : {};

/** What a file without kept seconds counts as. */
const UNKNOWN_S = 20;

/** The longest first, so that no process is left with a long one at the end. */
export const longestFirst = (files: readonly string[], seconds: Record<string, number>): string[] =>
  files.toSorted((a, b) => (seconds[b] ?? UNKNOWN_S) - (seconds[a] ?? UNKNOWN_S));

/** Seconds to keep: those of this run, and those of files that were not in it and are still there. */
export function merged(old: Record<string, number>, now: ReadonlyMap<string, number>): string {
  const all = new Map([...Object.entries(old).filter(([file]) => existsSync(file)), ...now]);
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([file, s]) => [file, Math.round(s * 10) / 10]);
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`;
}

export { KEPT };

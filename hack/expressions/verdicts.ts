// The verdict of `recheck` on each regular expression, kept in verdicts.json until the expression changes.
import { existsSync, readFileSync } from 'node:fs';
import { check } from 'recheck';
import { z } from 'zod';
import { type Expression, findExpressions } from './found.ts';

const root = new URL('../../', import.meta.url).pathname;
const FILE = 'hack/expressions/verdicts.json';
const LIMIT_MS = 60_000;

/** `linear`, or how its time grows with the text: `polynomial 2`, `exponential`; `unknown` after a timeout. */
export type Verdict = string;

/** An expression as it is written. */
export const spelling = ({ source, flags }: Pick<Expression, 'source' | 'flags'>): string => `/${source}/${flags}`;

/** The expressions of zod for addresses, times and similar formats. */
const ofLibrary = (): Expression[] =>
  Object.entries(z.regexes).flatMap(([name, given]) =>
    given instanceof RegExp ? [{ file: `zod:${name}`, line: 0, source: given.source, flags: given.flags }] : [],
  );

/** Every expression that may read foreign text, except those that are made at run time. */
export const allExpressions = (): Expression[] => [...findExpressions(root).written, ...ofLibrary()];

/** Known verdicts, by expression. */
export function knownVerdicts(): Map<string, Verdict> {
  const kept = existsSync(root + FILE)
    ? (JSON.parse(readFileSync(root + FILE, 'utf8')) as Record<string, Verdict>)
    : {};
  return new Map(Object.entries(kept));
}

export async function verdictOf({ source, flags }: Pick<Expression, 'source' | 'flags'>): Promise<Verdict> {
  const found = await check(source, flags, { timeout: LIMIT_MS });
  if (found.status === 'unknown') return 'unknown';
  if (found.status === 'safe') return 'linear';
  const { complexity } = found;
  return complexity.type === 'polynomial' ? `polynomial ${complexity.degree}` : complexity.type;
}

/** Verdicts of all expressions; recheck runs only for new ones. */
export async function verdicts(): Promise<Map<string, Verdict>> {
  const known = knownVerdicts();
  const all = new Map(allExpressions().map((one) => [spelling(one), one]));
  const made = new Map<string, Verdict>();
  for (const [words, one] of [...all].sort(([a], [b]) => (a < b ? -1 : 1)))
    made.set(words, known.get(words) ?? (await verdictOf(one)));
  return made;
}

/** The file that keeps them. */
export async function verdictFile(): Promise<Record<string, string>> {
  return { [FILE]: `${JSON.stringify(Object.fromEntries(await verdicts()), null, 1)}\n` };
}

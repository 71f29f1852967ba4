// Token sets as people send them: flat, or the nested groups of a design-tokens file. All that is bad is told at once.
import type { Issue } from '#kernel/errors.ts';
import type { TokenSet } from './kinds.ts';
import { tokenOf } from './tokens.ts';
import { readValue } from './values.ts';

type Path = (string | number)[];

/** Null takes a token back to the base. */
export type TokenChanges = Record<string, TokenSet[string] | null>;

interface Place {
  /** Where the set stands in the request. */
  path: Path;
  /** Whether it is of a scheme: other tokens stand there than in `shared`. */
  scheme: boolean;
  /** Whether null may stand for a value. */
  clears: boolean;
}

const DEEPEST = 8;

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of design-tokens files that is an object: a measure, a colour, a layer of a shadow. */
const isValue = (value: Record<string, unknown>): boolean =>
  ['unit', 'colorSpace', 'x', 'offsetX'].some((key) => Object.hasOwn(value, key));

/** What stands beside the value in such a file. */
const ABOUT = ['value', 'type', 'description', 'deprecated', 'extensions'];

interface Reading extends Place {
  values: Map<string, TokenChanges[string]>;
  issues: Issue[];
}

function readGroup(reading: Reading, set: Record<string, unknown>, at: string[] = []): void {
  for (const [key, value] of Object.entries(set)) {
    const isAbout = at.length > 0 && ABOUT.includes(key) && !isGroup(value);
    if (!isAbout && !key.startsWith('$')) readEntry(reading, [...at, key], value);
  }
}

/** A value, a group, or a token of such a file, which may be a group too. */
function readEntry(reading: Reading, at: string[], given: unknown): void {
  if (!isGroup(given) || isValue(given)) {
    take(reading, at, given);
    return;
  }
  const { value, $value = value, ...rest } = given;
  if ($value !== undefined) take(reading, at, $value);
  if (at.length < DEEPEST && ($value !== undefined || Object.keys(rest).length > 0)) readGroup(reading, rest, at);
  else refuse(reading, at, { code: 'unknown_token', message: 'there is no token here' });
}

function take(reading: Reading, at: string[], given: unknown): void {
  const name = at.join('.');
  const token = tokenOf(name);
  const code = 'unknown_token';
  if (!token) refuse(reading, at, { code, message: `there is no token ${name}` });
  else if (token.scheme !== reading.scheme)
    refuse(reading, at, { code, message: `${name} belongs into ${token.scheme ? 'schemes' : 'shared'}` });
  else if (given === null && reading.clears) reading.values.set(name, null);
  else {
    const read = readValue(given, token);
    if ('code' in read) refuse(reading, at, read);
    else reading.values.set(name, read.value);
  }
}

function refuse({ path, issues }: Reading, at: string[], { code, message }: Omit<Issue, 'path'>): void {
  issues.push({ path: [...path, ...at], code, message: message.slice(0, 200) });
}

/** What was said of tokens, as it will be kept; what is bad goes to `issues`. */
export function readTokens(given: Record<string, unknown>, place: Place, issues: Issue[]): TokenChanges {
  const values: Reading['values'] = new Map();
  readGroup({ ...place, values, issues }, given);
  return Object.fromEntries(values);
}

/** Without what is taken back; in the order of names, so that the same content is the same text. */
export function mergeTokens(before: TokenSet, changes: TokenChanges): TokenSet {
  const all = Object.entries({ ...before, ...changes }).filter(
    (entry): entry is [string, TokenSet[string]] => entry[1] !== null,
  );
  return Object.fromEntries(all.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

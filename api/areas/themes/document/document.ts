// Token sets of requests: flat, or the nested groups of a design-tokens file. All problems are reported at once.
import type { Issue } from '#kernel/errors.ts';
import type { TokenSet } from './kinds.ts';
import { tokenOf } from './tokens.ts';
import { readValue } from './values.ts';

type Path = (string | number)[];

/** Null resets a token to its base. */
export type TokenChanges = Record<string, TokenSet[string] | null>;

interface Place {
  /** Path of the set in the request. */
  path: Path;
  /** Whether it is the set of a scheme, which has other tokens than `shared`. */
  scheme: boolean;
  /** Whether null may be given as a value. */
  clears: boolean;
}

const DEEPEST = 8;

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object value of design-tokens files: a measure, a colour, or a layer of a shadow. */
const isValue = (value: Record<string, unknown>): boolean =>
  ['unit', 'colorSpace', 'x', 'offsetX'].some((key) => Object.hasOwn(value, key));

/** Members of design-tokens files that describe a token or group. */
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

/** A value, a group, or a design token, which may be a group too. */
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

/** The tokens of a request as they will be stored; problems are added to `issues`. */
export function readTokens(given: Record<string, unknown>, place: Place, issues: Issue[]): TokenChanges {
  const values: Reading['values'] = new Map();
  readGroup({ ...place, values, issues }, given);
  return Object.fromEntries(values);
}

/** Removes tokens set to null and sorts by name, so that equal content gives equal text. */
export function mergeTokens(before: TokenSet, changes: TokenChanges): TokenSet {
  const all = Object.entries({ ...before, ...changes }).filter(
    (entry): entry is [string, TokenSet[string]] => entry[1] !== null,
  );
  return Object.fromEntries(all.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

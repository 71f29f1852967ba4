// Patterns of gitignore, matched without regular expressions: the time is at most the product of the lengths of pattern
// and path.

/** One character of a name. */
interface One {
  fits: (character: string) => boolean;
}
type Sign = One | '*';
/** A name between slashes; `**` stands for any number of names. */
type Part = readonly Sign[] | '**';
export type Glob = readonly Part[];

const ANY: One = { fits: () => true };
const NEVER: One = { fits: () => false };

/** The pattern split at slashes, each part a list of character sets. A `*` is any number of characters. */
export function readGlob(text: string): Glob {
  const parts: Part[] = [];
  let signs: Sign[] = [];
  const close = (): void => {
    const stars = signs.length === 2 && signs.every((sign) => sign === '*');
    if (!stars) parts.push(signs.filter((sign, i) => sign !== '*' || signs[i - 1] !== '*'));
    else if (parts.at(-1) !== '**') parts.push('**');
    signs = [];
  };
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += 1) {
    if (characters[at] === '/') close();
    else {
      const { sign, last } = readSign(characters, at);
      signs.push(sign);
      at = last;
    }
  }
  close();
  return parts;
}

function readSign(characters: readonly string[], at: number): { sign: Sign; last: number } {
  const character = characters[at] as string;
  if (character === '*') return { sign: '*', last: at };
  if (character === '?') return { sign: ANY, last: at };
  if (character === '[') return readSet(characters, at);
  const last = character === '\\' && at + 1 < characters.length ? at + 1 : at;
  return { sign: only(characters[last] as string), last };
}

const only = (wanted: string): One => ({ fits: (character) => character === wanted });

/** `[abc]`, `[a-z]`, `[!a]`. Undefined for an unclosed set, or a range that ends before it begins. */
function readSet(characters: readonly string[], start: number): { sign: Sign; last: number } {
  const not = ['!', '^'].includes(characters[start + 1] ?? '');
  const first = start + (not ? 2 : 1);
  const held: string[] = [];
  const plain: boolean[] = []; // false for a `-` that may form a range
  let at = first;
  for (; at < characters.length && (characters[at] !== ']' || at === first); at += 1) {
    const escaped = characters[at] === '\\' && at + 1 < characters.length;
    if (escaped) at += 1;
    held.push(characters[at] as string);
    plain.push(escaped || characters[at] !== '-');
  }
  if (at >= characters.length) return { sign: NEVER, last: start };
  return { sign: setOf(rangesOf(held, plain), not), last: at };
}

type Range = readonly [from: number, to: number];

function rangesOf(held: readonly string[], plain: readonly boolean[]): Range[] {
  const codes = held.map((character) => character.codePointAt(0) ?? 0);
  const ranges: Range[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const from = codes[at] as number;
    const spans = plain[at + 1] === false && at + 2 < codes.length;
    ranges.push([from, spans ? (codes[at + 2] as number) : from]);
    if (spans) at += 2;
  }
  return ranges;
}

function setOf(ranges: readonly Range[], not: boolean): One {
  if (ranges.some(([from, to]) => to < from)) return NEVER;
  return {
    fits(character) {
      const code = character.codePointAt(0) ?? 0;
      return ranges.some(([from, to]) => code >= from && code <= to) !== not;
    },
  };
}

interface Places<P, T> {
  pattern: readonly P[];
  text: readonly T[];
  isStar: (part: P) => boolean;
  fits: (part: P, one: T) => boolean;
}

/**
 * Whether stars and fixed parts match the text. Only the last star is ever extended, because extending an earlier one
 * changes nothing.
 */
function covers<P, T>({ pattern, text, isStar, fits }: Places<P, T>): boolean {
  let [p, t, star, from] = [0, 0, -1, 0];
  while (t < text.length) {
    const part = pattern[p];
    if (part !== undefined && isStar(part)) {
      [star, from] = [p, t];
      p += 1;
    } else if (part !== undefined && fits(part, text[t] as T)) {
      p += 1;
      t += 1;
    } else {
      if (star < 0) return false;
      from += 1;
      [p, t] = [star + 1, from];
    }
  }
  return pattern.slice(p).every(isStar);
}

const nameFits = (part: readonly Sign[], name: string): boolean =>
  covers<Sign, string>({
    pattern: part,
    text: Array.from(name),
    isStar: (sign) => sign === '*',
    fits: (sign, character) => sign !== '*' && sign.fits(character),
  });

/** Whether the pattern matches the whole path. A `**` at the end stands for at least one name. */
export function globFits(glob: Glob, path: string): boolean {
  const names = path.split('/');
  const open = glob.at(-1) === '**' ? [...glob, ['*'] as const] : glob;
  return covers<Part, string>({
    pattern: open,
    text: names,
    isStar: (part) => part === '**',
    fits: (part, name) => part !== '**' && nameFits(part, name),
  });
}

import { atOnce, type Steps } from './steps.ts';

const PART = /(cd|dvd|disc|disk|part|pt)[\s._-]{0,3}(\d{1,2}|[a-d])\)?$/i;
const BEFORE = new Set([' ', '.', '_', '-', ']', ')', '(']);
const DIVIDING = new Set([' ', '.', '_', '-', '(']);
const MOST = 8;

export interface Part {
  /** The name without the part. */
  stem: string;
  number: number;
  /** Whether letters number it. */
  letter: boolean;
}

/** The part at the end of a name without extension: `cd1`, `part b`. */
export function partOf(stem: string): Part | undefined {
  const match = stem.length <= 300 ? PART.exec(stem) : null;
  if (!match || !BEFORE.has(stem.charAt(match.index - 1))) return undefined;
  const mark = (match[2] ?? '').toLowerCase();
  const letter = !/\d/.test(mark);
  const number = letter ? mark.charCodeAt(0) - 96 : Number(mark);
  const base = withoutDivider(stem.slice(0, match.index));
  return number < 1 || number > MOST || base === '' ? undefined : { stem: base, number, letter };
}

function withoutDivider(text: string): string {
  let end = text.length;
  while (end > 0 && DIVIDING.has(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** One file, or several parts of one. */
export interface Stack<T> {
  /** The name without the part. */
  stem: string;
  files: readonly { of: T; part?: number }[];
}

/** Joins parts with the same name; a single part is an ordinary file. */
export function stacksOf<T>(all: readonly T[], stemOf: (one: T) => string): Stack<T>[] {
  return atOnce(stackSteps(all, stemOf));
}

/** `stacksOf` with pauses. */
export function* stackSteps<T>(all: readonly T[], stemOf: (one: T) => string): Steps<Stack<T>[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const part = partOf(stemOf(one));
    const key = part ? `${part.stem.toLowerCase()}/${part.letter}` : `${stemOf(one)}/`;
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
    yield;
  }
  const stacks: Stack<T>[] = [];
  for (const group of groups.values()) {
    for (const stack of stackOf(group, stemOf)) stacks.push(stack);
    yield;
  }
  return stacks;
}

function stackOf<T>(group: readonly T[], stemOf: (one: T) => string): Stack<T>[] {
  const parts = group.flatMap((of) => {
    const part = partOf(stemOf(of));
    return part ? [{ of, ...part }] : [];
  });
  const distinct = new Set(parts.map(({ number }) => number)).size === parts.length;
  const [first] = parts;
  if (!first || parts.length < 2 || !distinct) return group.map((of) => ({ stem: stemOf(of), files: [{ of }] }));
  const files = parts.toSorted((a, b) => a.number - b.number).map(({ of, number }) => ({ of, part: number }));
  return [{ stem: first.stem, files }];
}

/** The common title of an episode in several parts. */
export function titleWithoutPart(title: string): string {
  const whole = `x ${title}`;
  return (partOf(whole)?.stem ?? whole).slice(2);
}

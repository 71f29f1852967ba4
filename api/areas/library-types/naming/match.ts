import { calendarDay } from '#platform/calendar.ts';
import { foldCase, parsePattern, type ShapedField, type Step } from './pattern.ts';

/** Values by the name of the placeholder; texts are trimmed, numbers are whole. */
export type Values = Readonly<Record<string, string | number>>;

/** Longer texts match nothing. */
const LONGEST = 4096;

/**
 * A compiled pattern. Matching tries each pair of step and place at most once, so the time grows with the length of the text
 * times the length of the pattern, whatever both contain. Optional stretches are used where they fit, and texts are as short
 * as possible.
 */
export class Matcher {
  readonly #steps: readonly Step[];
  /** Begin and end of each step's capture in the text; -1 when it has none. */
  readonly #begins: Int32Array;
  readonly #ends: Int32Array;
  /** The round in which a pair of step and place was tried. */
  #tried = new Uint32Array(0);
  #round = 0;
  #text = '';
  #width = 0;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
    this.#begins = new Int32Array(steps.length);
    this.#ends = new Int32Array(steps.length);
  }

  /** The values of the placeholders when the whole text fits. */
  match(text: string): Values | undefined {
    if (text.length > LONGEST) return undefined;
    this.#text = foldCase(text);
    this.#width = text.length + 1;
    const size = this.#width * (this.#steps.length + 1);
    if (this.#tried.length < size || this.#round === 0xffff_ffff) {
      this.#tried = new Uint32Array(Math.max(size, this.#tried.length));
      this.#round = 0;
    }
    this.#round += 1;
    this.#begins.fill(-1);
    return this.#run(0, 0) ? this.#values(text) : undefined;
  }

  /** Whether the steps from `step` on fit the text from `place` on. */
  #run(step: number, place: number): boolean {
    const one = this.#steps[step];
    if (!one) return place === this.#text.length;
    if (one.kind === 'text') return this.#runText(step, place);
    if (this.#isTried(step, place)) return false;
    switch (one.kind) {
      case 'literal':
        return this.#text.startsWith(one.text, place) && this.#run(step + 1, place + one.text.length);
      case 'optional':
        return this.#run(step + 1, place) || this.#skip(step, one.end, place);
      case 'shaped': {
        const end = shapes[one.field](this.#text, place);
        return end >= 0 && this.#captured(step, place, end);
      }
    }
  }

  #isTried(step: number, place: number): boolean {
    const at = step * this.#width + place;
    if (this.#tried[at] === this.#round) return true;
    this.#tried[at] = this.#round;
    return false;
  }

  #skip(step: number, end: number, place: number): boolean {
    for (let i = step; i < end; i += 1) this.#begins[i] = -1;
    return this.#run(end, place);
  }

  #captured(step: number, begin: number, end: number): boolean {
    this.#begins[step] = begin;
    this.#ends[step] = end;
    if (this.#run(step + 1, end)) return true;
    this.#begins[step] = -1;
    return false;
  }

  /** An end that was tried before led nowhere, and so did all behind it. */
  #runText(step: number, begin: number): boolean {
    const text = this.#text;
    const slash = text.indexOf('/', begin);
    const last = slash < 0 ? text.length : slash;
    const next = this.#steps[step + 1];
    for (let end = begin + 1; end <= last; end += 1) {
      if (next?.kind === 'literal') end = text.indexOf(next.text, end);
      else if (!next) end = last;
      if (end < 0 || end > last || this.#isTried(step, end)) return false;
      if (this.#captured(step, begin, end)) return true;
    }
    return false;
  }

  #values(text: string): Values {
    const values: Record<string, string | number> = {};
    for (let i = 0; i < this.#steps.length; i += 1) {
      const step = this.#steps[i] as Step;
      const begin = this.#begins[i] as number;
      if (begin < 0 || step.kind === 'literal' || step.kind === 'optional' || step.field === undefined) continue;
      const value = readValue(step, text.slice(begin, this.#ends[i]));
      if (value !== '') values[step.field] = value;
    }
    return values;
  }
}

function readValue(step: Exclude<Step, { kind: 'literal' | 'optional' }>, raw: string): string | number {
  if (step.kind === 'text') return raw.trim();
  if (step.field === 'date') return dayOf(raw) as string;
  if (step.field === 'language') return raw;
  if (step.field === 'part' && !isDigit(raw, 0)) return raw.toLowerCase().charCodeAt(0) - 96;
  return Number(raw);
}

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
};
const isLetter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 97 && code <= 122;
};

interface Run {
  is: typeof isDigit;
  least?: number;
  most: number;
}

/** The end of the run from `at` on; -1 unless it has `least` to `most` characters. */
function runOf(text: string, at: number, { is, least = 1, most }: Run): number {
  let end = at;
  while (end - at <= most && is(text, end)) end += 1;
  return end - at < least || end - at > most ? -1 : end;
}

const number = (text: string, at: number): number => runOf(text, at, { is: isDigit, most: 6 });

/** The end of each shape that begins at a place, or -1. The text is in lower case. */
const shapes: Readonly<Record<ShapedField, (text: string, at: number) => number>> = {
  index: number,
  index2: number,
  year: (text, at) => runOf(text, at, { is: isDigit, least: 4, most: 4 }),
  part(text, at) {
    if (!isLetter(text, at)) return runOf(text, at, { is: isDigit, most: 2 });
    return isLetter(text, at + 1) || isDigit(text, at + 1) ? -1 : at + 1;
  },
  language(text, at) {
    const end = runOf(text, at, { is: isLetter, least: 2, most: 3 });
    if (end < 0 || text[end] !== '-') return end;
    const region = runOf(text, end + 1, { is: isLetter, least: 2, most: 4 });
    return region < 0 ? end : region;
  },
  date(text, at) {
    const isShort = isDigit(text, at + 4);
    const end = at + (isShort ? 8 : 10);
    return end <= text.length && !isDigit(text, end) && dayOf(text.slice(at, end)) !== undefined ? end : -1;
  },
};

/** `2024-01-31` of `20240131`, `2024-01-31`, `2024.01.31` and `2024_01_31`. */
function dayOf(raw: string): string | undefined {
  const isShort = raw.length === 8;
  if (!isShort && (raw[4] !== raw[7] || !'-._'.includes(raw[4] ?? '/'))) return undefined;
  const parts = isShort
    ? [raw.slice(0, 4), raw.slice(4, 6), raw.slice(6)]
    : [raw.slice(0, 4), raw.slice(5, 7), raw.slice(8)];
  if (parts.some((part) => !Array.from(part).every((_, i) => isDigit(part, i)))) return undefined;
  return calendarDay(parts.join('-'));
}

/** The matcher of a pattern without faults; undefined for any other. */
export function compilePattern(pattern: string): Matcher | undefined {
  const { steps, faults } = parsePattern(pattern);
  return faults.length > 0 ? undefined : new Matcher(steps);
}

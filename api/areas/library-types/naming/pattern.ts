/**
 * Parses naming patterns: `{parent}/{index} - {title}[ ({year})]`. A pattern is a template and never becomes a regular
 * expression; `match.ts` runs the steps in linear time.
 */

/** Placeholders of a text without `/`, at least one character, as short as the rest allows. */
export const textFields = ['title', 'parent', 'grandparent', 'edition'] as const;
/** Placeholders of a shape of their own. */
export const shapedFields = ['year', 'index', 'index2', 'date', 'part', 'language'] as const;

export type ShapedField = (typeof shapedFields)[number];

export type Step =
  | { kind: 'literal'; text: string }
  /** Without a field the text is dropped. */
  | { kind: 'text'; field: string | undefined }
  | { kind: 'shaped'; field: ShapedField }
  /** An optional stretch: the steps up to `end`, or none of them. */
  | { kind: 'optional'; end: number };

export interface PatternFault {
  code: 'unknown_placeholder' | 'duplicate_placeholder' | 'malformed_pattern';
  message: string;
}

export interface Pattern {
  steps: readonly Step[];
  faults: readonly PatternFault[];
  /** Names of the placeholders with a value. */
  fields: readonly string[];
}

/** Deeper stretches are a fault. */
const DEEPEST = 5;
const CUSTOM = /^custom\.[a-z0-9_]{1,40}$/;

/** The characters of a pattern by their meaning, left to right. */
class Parser {
  readonly steps: Step[] = [];
  readonly faults: PatternFault[] = [];
  readonly fields: string[] = [];
  readonly #open: number[] = [];
  #literal = '';

  /** Reads one mark at `at`; returns the place behind it. */
  read(pattern: string, at: number): number {
    const sign = pattern[at] as string;
    if (sign === '\\' && at + 1 < pattern.length) {
      this.#literal += pattern[at + 1];
      return at + 2;
    }
    if (sign === '{') return this.#placeholder(pattern, at);
    if (sign === '[') this.#begin();
    else if (sign === ']') this.#end();
    else if (sign === '}') this.#fault('malformed_pattern', '} without {');
    else this.#literal += sign;
    return at + 1;
  }

  finish(): Pattern {
    this.#flush();
    if (this.#open.length > 0) this.#fault('malformed_pattern', '[ without ]');
    if (this.steps.length === 0) this.#fault('malformed_pattern', 'the pattern is empty');
    return { steps: this.steps, faults: this.faults, fields: this.fields };
  }

  #flush(): void {
    if (this.#literal !== '') this.steps.push({ kind: 'literal', text: foldCase(this.#literal) });
    this.#literal = '';
  }

  #fault(code: PatternFault['code'], message: string): void {
    this.faults.push({ code, message });
  }

  #begin(): void {
    this.#flush();
    if (this.#open.length >= DEEPEST) this.#fault('malformed_pattern', `optional stretches nest up to ${DEEPEST} deep`);
    this.#open.push(this.steps.length);
    this.steps.push({ kind: 'optional', end: 0 });
  }

  #end(): void {
    this.#flush();
    const begun = this.#open.pop();
    if (begun === undefined) this.#fault('malformed_pattern', '] without [');
    else this.steps[begun] = { kind: 'optional', end: this.steps.length };
  }

  #placeholder(pattern: string, at: number): number {
    const end = pattern.indexOf('}', at);
    if (end < 0) {
      this.#fault('malformed_pattern', '{ without }');
      return pattern.length;
    }
    this.#flush();
    this.#add(pattern.slice(at + 1, end));
    return end + 1;
  }

  #add(name: string): void {
    if (name === '*') {
      this.steps.push({ kind: 'text', field: undefined });
      return;
    }
    if (this.fields.includes(name)) this.#fault('duplicate_placeholder', `{${name}} stands twice`);
    this.fields.push(name);
    const shaped = shapedFields.find((one) => one === name);
    if (shaped) this.steps.push({ kind: 'shaped', field: shaped });
    else this.steps.push({ kind: 'text', field: name });
    const isKnown = shaped || (textFields as readonly string[]).includes(name) || CUSTOM.test(name);
    if (!isKnown) this.#fault('unknown_placeholder', `there is no placeholder {${name.slice(0, 40)}}`);
  }
}

/** The steps of a pattern with every fault of it. */
export function parsePattern(pattern: string): Pattern {
  const parser = new Parser();
  for (let at = 0; at < pattern.length; ) at = parser.read(pattern, at);
  return parser.finish();
}

/** Lower case of the same length, so that places in both texts are the same. */
export function foldCase(text: string): string {
  const low = text.toLowerCase();
  if (low.length === text.length) return low;
  return Array.from(text, (sign) => {
    const one = sign.toLowerCase();
    return one.length === sign.length ? one : sign;
  }).join('');
}

/** A word of a name. */
export interface Token {
  text: string;
  /** In lower case, without an apostrophe. */
  low: string;
  start: number;
  end: number;
  /** The bracket around it. */
  bracket: Bracket | undefined;
}

/** A pair of brackets. An unclosed one ends with the name. */
export interface Bracket {
  sign: string;
  start: number;
  end: number;
}

const PAIRS = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['（', '）'],
  ['［', '］'],
  ['【', '】'],
]);
const CLOSING = new Set(PAIRS.values());
const BETWEEN = new Set([' ', '.', '_', '-', ',', '+', '~', '–', '—', '|', '/', '★', '☆', '\u3000', ';']);

/** The words of a name, in one pass. */
export function tokenise(name: string): Token[] {
  const reading = new Reading(name);
  for (let at = 0; at < name.length; at += 1) reading.take(name.charAt(at), at);
  return reading.end();
}

class Reading {
  readonly #name: string;
  readonly #tokens: Token[] = [];
  readonly #open: Bracket[] = [];
  #start = -1;

  constructor(name: string) {
    this.#name = name;
  }

  take(sign: string, at: number): void {
    if (PAIRS.has(sign)) {
      this.#word(at);
      this.#open.push({ sign, start: at, end: this.#name.length });
    } else if (CLOSING.has(sign)) {
      this.#word(at);
      this.#close(at);
    } else if (BETWEEN.has(sign)) this.#word(at);
    else if (this.#start < 0) this.#start = at;
  }

  end(): Token[] {
    this.#word(this.#name.length);
    return this.#tokens;
  }

  #close(at: number): void {
    const bracket = this.#open.pop();
    if (bracket) bracket.end = at + 1;
  }

  #word(end: number): void {
    if (this.#start < 0) return;
    const text = this.#name.slice(this.#start, end);
    const low = text.toLowerCase().replaceAll(/['’]/g, '');
    this.#tokens.push({ text, low, start: this.#start, end, bracket: this.#open[0] });
    this.#start = -1;
  }
}

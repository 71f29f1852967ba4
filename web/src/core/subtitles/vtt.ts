// WebVTT, read in pieces as the bytes arrive. Linear in its input and bounded in everything that it keeps.

/** A cue as the file has it; a file of 50 MB is kept in this shape. */
export interface RawCue {
  startMs: number;
  endMs: number;
  place: Place;
  texts: readonly string[];
}

export interface Cue extends Omit<RawCue, 'texts'> {
  lines: readonly Line[];
}

/** Pieces of one line; a piece is text with its style, never markup. */
export type Line = readonly Piece[];
export interface Piece {
  text: string;
  italic: boolean;
  bold: boolean;
  underline: boolean;
}

/** Percentages of the picture. */
export interface Place {
  /** From the top; absent is the foot. */
  line?: number;
  /** Of the anchor, from the left. */
  position?: number;
  align: 'start' | 'center' | 'end';
}

const MOST_CUES = 100_000;
/** Characters of all cues together. */
const MOST_KEPT = 2 ** 25;
const LONGEST_LINE = 8192;
const LONGEST_TEXT = 4000;
const MOST_LINES = 12;
/** Of a cue; the rest of its text goes on in the style of the last one. */
const MOST_PIECES = 64;

type Section = 'between' | 'cue' | 'skip';

/** Takes the text in pieces of any length; `end` closes the last cue. */
export class VttReader {
  readonly cues: RawCue[] = [];
  #rest = '';
  #section: Section = 'between';
  #timing: Omit<RawCue, 'texts'> | undefined;
  #text: string[] = [];
  /** Of the cue being read. */
  #length = 0;
  #kept = 0;
  /** Inside a line that is too long to be kept. */
  #isSkipping = false;
  /** A line feed that comes next belongs to the end of a line that is over. */
  #isAfterReturn = false;

  /** More cues would not be kept. */
  get isFull(): boolean {
    return this.cues.length >= MOST_CUES || this.#kept >= MOST_KEPT;
  }

  push(piece: string): void {
    const text = this.#isAfterReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece.length > 0) this.#isAfterReturn = piece.endsWith('\r');
    const parts = text.split(/\r\n|\n|\r/);
    const last = parts.pop() ?? '';
    for (const part of parts) {
      this.#end(part);
    }
    this.#add(last);
  }

  end(): RawCue[] {
    this.#end('');
    this.#close();
    return this.cues;
  }

  #add(text: string): void {
    if (this.#rest.length + text.length > LONGEST_LINE) this.#isSkipping = true;
    else this.#rest += text;
  }

  #end(text: string): void {
    this.#add(text);
    if (this.#isSkipping) this.#section = 'skip';
    else this.#line(this.#rest);
    this.#rest = '';
    this.#isSkipping = false;
  }

  #line(line: string): void {
    if (line === '') {
      this.#close();
      return;
    }
    const timing = line.includes('-->') ? timingOf(line) : undefined;
    if (timing) {
      this.#close();
      this.#timing = timing;
      this.#section = 'cue';
    } else if (this.#section === 'between') {
      if (/^(NOTE|STYLE|REGION)(\s|$)/.test(line)) this.#section = 'skip';
    } else if (this.#section === 'cue') this.#keep(line);
  }

  #keep(line: string): void {
    if (this.#text.length >= MOST_LINES || this.#length >= LONGEST_TEXT) return;
    const kept = line.slice(0, LONGEST_TEXT - this.#length);
    this.#length += kept.length;
    this.#text.push(kept);
  }

  #close(): void {
    const timing = this.#timing;
    if (timing && this.#text.length > 0 && !this.isFull) {
      this.cues.push({ ...timing, texts: this.#text });
      this.#kept += this.#length;
    }
    this.#timing = undefined;
    this.#text = [];
    this.#length = 0;
    this.#section = 'between';
  }
}

const CLOCK = /^(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})$/;

function clock(text: string): number | undefined {
  const [, hours = '0', minutes = '0', seconds = '0', rest = '0'] = CLOCK.exec(text) ?? [undefined];
  if (!CLOCK.test(text)) return undefined;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 + Number(rest.padEnd(3, '0'));
}

function timingOf(line: string): Omit<RawCue, 'texts'> | undefined {
  const [from = '', arrow, to = '', ...settings] = line.trim().split(/\s+/, 12);
  const [startMs, endMs] = [clock(from), clock(to)];
  if (arrow !== '-->' || startMs === undefined || endMs === undefined || endMs <= startMs) return undefined;
  return { startMs, endMs, place: placeOf(settings) };
}

/** Lines counted from the top or, below zero, from the foot become percentages of a picture of 15 lines. */
const ROWS = 15;

function placeOf(settings: readonly string[]): Place {
  const given = new Map(settings.map((one) => one.split(':', 2) as [string, string]));
  const line = percentOf(given.get('line')?.split(',')[0]);
  const position = percentOf(given.get('position')?.split(',')[0]);
  const align = given.get('align') ?? '';
  return {
    align: /^(start|left)$/.test(align) ? 'start' : /^(end|right)$/.test(align) ? 'end' : 'center',
    ...(line !== undefined && line < 75 && { line }),
    ...(position !== undefined && { position }),
  };
}

function percentOf(text: string | undefined): number | undefined {
  const value = Number.parseFloat(text ?? '');
  if (!Number.isFinite(value)) return undefined;
  const percent = text?.endsWith('%') ? value : ((value < 0 ? ROWS + value : value) * 100) / ROWS;
  return Math.min(100, Math.max(0, percent));
}

const TAG = /<(\/?)([a-z]{0,8})[^<>]{0,200}>/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

const unescaped = (text: string): string =>
  text.replace(/&([a-z]{2,4});/g, (all, name: string) => ENTITIES[name] ?? all);

export const drawnCue = ({ texts, ...rest }: RawCue): Cue => ({ ...rest, lines: linesOf(texts) });

/** Styles carry over lines; tags that are no styles are left out, their text stays. */
function linesOf(texts: readonly string[]): Line[] {
  const depth = { i: 0, b: 0, u: 0 };
  let count = 0;
  return texts.map((text) => {
    const pieces: Piece[] = [];
    let at = 0;
    const add = (to: number): void => {
      const shown = unescaped(text.slice(at, to));
      const { i, b, u } = depth;
      const last = pieces.at(-1);
      if (last && count >= MOST_PIECES) last.text += shown;
      else if (shown) {
        pieces.push({ text: shown, italic: i > 0, bold: b > 0, underline: u > 0 });
        count += 1;
      }
    };
    for (const { 0: all, 1: slash, 2: name = '', index } of text.matchAll(TAG)) {
      add(index);
      at = index + all.length;
      const key = name.toLowerCase();
      if (key in depth)
        depth[key as keyof typeof depth] = Math.max(0, depth[key as keyof typeof depth] + (slash ? -1 : 1));
    }
    add(text.length);
    return pieces;
  });
}

import { mistakes, romanOf } from '../question/lexemes.ts';
import type { Mark } from '../search.schemas.ts';

const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const CLOSE =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;

/** A word without case and accents, much as the index folds it; only to show which words matched. */
export function fold(word: string): string {
  const plain = word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’ʼ]/gu, '');
  return plain.replace(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter);
}

export interface Wanted {
  tokens: readonly string[];
  open: boolean;
  /** Words with one mistake count too. */
  near?: boolean;
}

interface Word {
  start: number;
  length: number;
  folded: string;
}

const wordsOf = (text: string): Word[] =>
  [...text.matchAll(/[\p{L}\p{N}\p{M}'’ʼ]+/gu)].map(({ 0: word, index }) => ({
    start: index,
    length: word.length,
    folded: fold(word),
  }));

/** Where words of the question are in a text, and how many of its words are there. */
export function marksIn(text: string, { tokens, open, near = false }: Wanted): { marks: Mark[]; covered: number } {
  const words = wordsOf(text.slice(0, MOST));
  const found = new Map<number, Mark>();
  let covered = 0;
  for (const [i, token] of tokens.entries()) {
    const prefix = open && i === tokens.length - 1;
    const hits = CLOSE.test(token)
      ? piecesIn(text, token)
      : words.filter((word, at) => fits(word, words[at + 1], { token, prefix, near }));
    for (const { start, length } of hits) found.set(start, { start, length });
    if (hits.length > 0) covered += 1;
  }
  return { marks: joined([...found.values()].sort((a, b) => a.start - b.start)), covered };
}

const MOST = 4000;
const MOST_MARKS = 50;

interface Sought {
  token: string;
  prefix: boolean;
  near: boolean;
}

function fits({ folded }: Word, next: Word | undefined, sought: Sought): boolean {
  const { token, prefix, near } = sought;
  if (isSame(folded, token)) return true;
  if (folded.startsWith(token)) return prefix || folded.length - token.length <= 2;
  if (next && folded + next.folded === token) return true;
  return near && token.length > 3 && mistakes(token, prefix ? folded.slice(0, token.length) : folded, 2) <= 2;
}

const isSame = (word: string, token: string): boolean =>
  word === token || romanOf(word) === token || romanOf(token) === word;

function piecesIn(text: string, piece: string): Mark[] {
  const plain = text.normalize('NFKC').length === text.length ? text.normalize('NFKC').toLowerCase() : text;
  const marks: Mark[] = [];
  for (let at = plain.indexOf(piece); at >= 0 && marks.length < MOST_MARKS; at = plain.indexOf(piece, at + 1))
    marks.push({ start: at, length: piece.length });
  return marks;
}

function joined(marks: readonly Mark[]): Mark[] {
  const made: Mark[] = [];
  for (const mark of marks) {
    const last = made.at(-1);
    if (last && mark.start < last.start + last.length)
      last.length = Math.max(last.length, mark.start + mark.length - last.start);
    else made.push({ ...mark });
  }
  return made.slice(0, MOST_MARKS);
}

const EXCERPT = 160;

/** A part of a long text with its first mark, and its marks there. */
export function excerpt(text: string, marks: readonly Mark[]): { text: string; marks: Mark[] } {
  const first = marks[0];
  if (text.length <= EXCERPT || !first)
    return { text: text.slice(0, EXCERPT), marks: marks.filter((mark) => mark.start + mark.length <= EXCERPT) };
  const blank = text.lastIndexOf(' ', Math.max(0, first.start - 60));
  const from = first.start <= 60 ? 0 : Math.max(blank + 1, first.start - 80);
  const part = text.slice(from, from + EXCERPT).toWellFormed();
  const inside = marks.filter(({ start, length }) => start >= from && start + length <= from + part.length);
  return { text: part, marks: inside.map(({ start, length }) => ({ start: start - from, length })) };
}

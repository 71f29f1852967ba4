import { operators } from '#kernel/filter-fields.ts';

/** A question in its parts, still as written. */
export interface Question {
  /** The words outside of quotes, without excluded ones. */
  words: string;
  phrases: readonly string[];
  /** Words and phrases that must not occur. */
  excluded: readonly string[];
  /** Conditions in the form of the filter string, such as `year:eq:1999`. */
  filters: readonly string[];
  /** The last word may go on: nothing follows it, not even a quote. */
  open: boolean;
}

const FIELD = /^[a-z][a-z_.]{0,40}$/;
const SHORT: Readonly<Record<string, string>> = { year: 'eq', type: 'eq' };

/** Parts of a question: quotes make a phrase, a leading minus excludes, `field:op:value` narrows. Linear in its length. */
export function parseQuestion(text: string): Question {
  const pieces = piecesOf(text.normalize('NFKC')).map((piece) => ({ ...piece, filter: filterOf(piece) }));
  const texts = (kind: Kind): string[] => pieces.filter((piece) => kindOf(piece) === kind).map((piece) => piece.text);
  const filters = pieces.flatMap(({ filter }) => filter ?? []);
  const [words, phrases, excluded] = [texts('word'), texts('phrase'), texts('excluded')];
  if (words.length + phrases.length + filters.length === 0) {
    return { words: text, phrases: [], excluded: [], filters: [], open: true };
  }
  const last = pieces.at(-1);
  return { words: words.join(' '), phrases, excluded, filters, open: last !== undefined && kindOf(last) === 'word' };
}

type Kind = 'word' | 'phrase' | 'excluded' | 'filter';

function kindOf({ minus, quoted, filter }: Piece & { filter: string | undefined }): Kind {
  if (filter) return 'filter';
  if (minus) return 'excluded';
  return quoted ? 'phrase' : 'word';
}

/** The question without its conditions, for a caller who does not know a field. */
export function withoutFilters(question: Question): Question {
  const words = [question.words, ...question.filters.map((one) => one.replace(/[:\\]/g, ' '))].join(' ');
  return { ...question, words, filters: [] };
}

interface Piece {
  text: string;
  quoted: boolean;
  minus: boolean;
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text.charAt(at))) at += 1;
    else {
      const { piece, end } = pieceAt(text, at);
      if (piece.text.trim()) pieces.push(piece);
      at = end;
    }
  }
  return pieces;
}

function pieceAt(text: string, at: number): { piece: Piece; end: number } {
  const minus = text[at] === '-' && at + 1 < text.length && !/[\s-]/.test(text.charAt(at + 1));
  const from = minus ? at + 1 : at;
  const close = text[from] === '"' ? text.indexOf('"', from + 1) : -1;
  if (close > 0) return { piece: { text: text.slice(from + 1, close), quoted: true, minus }, end: close + 1 };
  const end = endOfWord(text, from);
  return { piece: { text: text.slice(from, end), quoted: false, minus }, end };
}

function endOfWord(text: string, from: number): number {
  let end = from;
  while (end < text.length && !/\s/.test(text[end] ?? '')) end += 1;
  return end;
}

function filterOf({ text, quoted, minus }: Piece): string | undefined {
  const [field = '', second = '', ...rest] = text.split(':');
  if (quoted || minus || second === '' || !FIELD.test(field)) return undefined;
  if (rest.length === 0) return shortFilter(field, second);
  return rest.some(Boolean) && operators.some((op) => op === second) ? text : undefined;
}

/** `year:1999` for `year:eq:1999`. */
function shortFilter(field: string, value: string): string | undefined {
  return SHORT[field] && `${field}:${SHORT[field]}:${value}`;
}

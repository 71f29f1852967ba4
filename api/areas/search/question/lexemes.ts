/** A folded word of a question. */
export interface Word {
  token: string;
  stems: readonly string[];
  prefix: boolean;
}

/** Likeness starts at this many letters. */
export const VARIED = 4;
/** Longer words are compared by likeness of the whole title only. */
const LONGEST = 16;

/** A lexeme of a `tsquery`. */
export const quoted = (word: string): string => `'${word.replace(/\\/g, '\\\\').replace(/'/g, "''")}'`;

const ROMAN = /^(x{0,3})(ix|iv|v?i{0,3})$/;
const VALUES: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10 };

/** The digits of a roman number up to 39. */
export function romanOf(word: string): string | undefined {
  if (word === '' || !ROMAN.test(word)) return undefined;
  const values = word.split('').map((letter) => VALUES[letter] ?? 0);
  const sum = values.reduce((total, value, i) => total + (value < (values[i + 1] ?? 0) ? -value : value), 0);
  return String(sum);
}

/** Lexemes that match a word: itself, perhaps as the beginning of another, its stems, and a number in the other writing. */
export const groupOf = (word: Word): string => lexemesOf(word).join(' | ');

/** The same as a list. */
export function lexemesOf({ token, stems, prefix }: Word): string[] {
  const roman = romanOf(token);
  const exact = [...(roman ? [roman] : []), ...stems.filter((stem) => stem !== token)];
  return [quoted(token) + (prefix ? ':*' : ''), ...exact.map(quoted)];
}

const MOST_JOINED = 5;

/** All words, or all with two neighbours written as one: `bat man` finds Batman. */
export function joinedGroups(words: readonly Word[]): string {
  const all = words.map((word) => `(${groupOf(word)})`);
  if (words.length < 2 || words.length > MOST_JOINED) return all.join(' & ');
  const joined = words.slice(1).map((word, i) => {
    const one = quoted((words[i]?.token ?? '') + word.token) + (word.prefix ? ':*' : '');
    return [...all.slice(0, i), one, ...all.slice(i + 2)].join(' & ');
  });
  return [all.join(' & '), ...joined].map((one) => `(${one})`).join(' | ');
}

const ALPHABETS: readonly [RegExp, string][] = [
  [/^[a-z0-9]+$/, 'abcdefghijklmnopqrstuvwxyz'],
  [/^[а-яіїєґ]+$/, 'абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ'],
  [/^[α-ω]+$/, 'αβγδεζηθικλμνξοπρσςτυφχψω'],
];

/** Every word with one mistake: a letter left out, added, replaced, or swapped with its neighbour. Empty for short words. */
export function variants(word: string): string[] {
  if (word.length < VARIED || word.length > LONGEST) return [];
  const letters = ALPHABETS.find(([script]) => script.test(word))?.[1] ?? '';
  const made = new Set<string>();
  for (let i = 0; i <= word.length; i += 1) {
    const [head, tail] = [word.slice(0, i), word.slice(i)];
    if (tail) made.add(head + tail.slice(1));
    if (tail.length > 1) made.add(head + tail[1] + tail[0] + tail.slice(2));
    for (const letter of letters) {
      made.add(head + letter + tail);
      if (tail) made.add(head + letter + tail.slice(1));
    }
  }
  made.delete(word);
  return [...made];
}

/** Number of mistakes between two words, where swapped neighbours are one; `most + 1` when there are more. */
export function mistakes(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? most + 1;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a.slice(i - 2, i) === `${b[j - 1]}${b[j - 2]}` ? at(i - 2, j - 2) + 1 : changed;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped));
    }
  }
  return Math.min(at(a.length, b.length), most + 1);
}

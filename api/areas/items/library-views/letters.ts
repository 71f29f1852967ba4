import type { Initial } from './jump-bar.ts';

/** Initials of titles by the collation of a language: Å is a letter of its own in Swedish and an A in French. */
export interface Letters {
  locale: string;
  /** Characters that `initialOf` reads: two where a pair makes a letter (ch, sz, lj). */
  length: 1 | 2;
  initialOf(start: string): Initial;
}

const KANA = Array.from('あかさたなはまやらわ');
/** Initial consonants in the order of Unicode's syllables; tense consonants share the initial of the plain ones. */
const HANGUL = Array.from('ㄱㄱㄴㄷㄷㄹㅁㅂㅂㅅㅅㅇㅈㅈㅊㅋㅌㅍㅎ');
const SYLLABLES_OF_ONE = 588;
const PAIRS = new Set(['bs', 'cs', 'cy', 'hr', 'hu', 'sk', 'sq']);
const LATIN = Array.from('abcdefghijklmnopqrstuvwxyz');
/** Letters that sort as two. */
const LIGATURES: Record<string, string> = { æ: 'ae', œ: 'oe', ß: 'ss', ĳ: 'ij' };
/** CLDR's Chinese orders have this mark before the first character of each initial. */
const MARK = '\uFDD0';
const MOST_STROKES = 60;

const made = new Map<string, Letters>();

/** Letters of a BCP 47 language. */
export function lettersOf(locale: string): Letters {
  const letters = made.get(locale) ?? makeLetters(locale);
  made.set(locale, letters);
  return letters;
}

type Reading = (start: string) => Initial | undefined;

function makeLetters(locale: string): Letters {
  const order = new Intl.Collator(locale);
  const base = new Intl.Collator(locale, { sensitivity: 'base' });
  const length = PAIRS.has(locale) ? 2 : 1;
  const readings: Reading[] = [digit, kana, hangul, han(locale, order)];
  if (length === 2) readings.push(pair(locale, order));
  readings.push(letter(locale, base));
  const initials = new Map<string, Initial>();
  return {
    locale,
    length,
    initialOf(start) {
      const known = initials.get(start);
      if (known) return known;
      const plain = start.normalize('NFKC').toLocaleLowerCase(locale);
      let initial: Initial | undefined;
      for (const read of readings) initial ??= read(plain);
      if (initials.size > 10_000) initials.clear();
      initials.set(start, initial ?? SIGN);
      return initial ?? SIGN;
    },
  };
}

const named = (label: string): Initial => ({ key: label, label });
const SIGN = named('#');
const firstOf = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 0x20);

const digit: Reading = (start) => (/^\p{Nd}/u.test(start) ? named('0-9') : undefined);

const kanaOrder = new Intl.Collator('ja', { sensitivity: 'base' });

/** The row of the gojūon. */
const kana: Reading = (start) => {
  if (!/^[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(start)) return undefined;
  const row = KANA.findLast((first) => kanaOrder.compare(first, firstOf(start)) <= 0);
  return named(row ?? 'あ');
};

const hangul: Reading = (start) => {
  const syllable = (start.codePointAt(0) ?? 0) - 0xac00;
  const consonant = syllable < 0 ? undefined : HANGUL[Math.floor(syllable / SYLLABLES_OF_ONE)];
  return consonant === undefined ? undefined : named(consonant);
};

/** By the first letter of pinyin, by the number of strokes, or in one bucket where the language has neither order. */
function han(locale: string, order: Intl.Collator): Reading {
  const [language, script] = locale.split('-');
  const strokes = Array.from({ length: MOST_STROKES }, (_, i) => String.fromCodePoint(0x2801 + i));
  const marks = script === 'hant' ? strokes : LATIN.map((one) => one.toUpperCase());
  const labelOf = (mark: string): Initial =>
    script === 'hant' ? named(`${mark.charCodeAt(0) - 0x2800}劃`) : { key: `pinyin-${mark}`, label: mark };
  return (start) => {
    if (!/^\p{Script=Han}/u.test(start)) return undefined;
    if (language !== 'zh') return named('漢');
    const mark = marks.findLast((one) => order.compare(MARK + one, firstOf(start)) <= 0);
    return mark === undefined ? named('漢') : labelOf(mark);
  };
}

/** A pair that the collation treats as one letter sorts after all other pairs with the same first character. */
function pair(locale: string, order: Intl.Collator): Reading {
  return (start) => {
    const two = start.slice(0, 2);
    if (!/^\p{Script=Latin}{2}$/u.test(two) || order.compare(two, `${two[0]}я`) <= 0) return undefined;
    return named(firstOf(two).toLocaleUpperCase(locale) + two.slice(1));
  };
}

/** A letter with a diacritic has the initial of the plain letter, unless the language separates them. */
function letter(locale: string, base: Intl.Collator): Reading {
  const upper = (one: string): Initial => named(one.toLocaleUpperCase(locale));
  return (start) => {
    const one = firstOf(start);
    if (!/^\p{L}/u.test(one)) return undefined;
    const bare = firstOf(one.normalize('NFD'));
    const plain = (bare === one ? LATIN : [bare, ...LATIN]).find((candidate) => base.compare(candidate, one) === 0);
    if (plain !== undefined) return upper(plain);
    const two = LIGATURES[one];
    return upper(two !== undefined && base.compare(two, one) === 0 ? firstOf(two) : one);
  };
}

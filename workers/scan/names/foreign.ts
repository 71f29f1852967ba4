import type { Tagged } from './tags.ts';

/** `Film.German.2011`, `Film.FRENCH.2011` and `Film.GERMAN.DL.2011`, but not `The.Good.German.2006`. */
export function isForeign(words: readonly Tagged[], at: number): boolean {
  const word = words[at];
  if (at < 1 || !word || !endsWith(words, at)) return false;
  return isShouted(word, words.slice(0, at)) || (at > 1 && at === words.length - 1 && isGerman(word, words[at - 1]));
}

function endsWith(words: readonly Tagged[], at: number): boolean {
  return at === words.length - 1 || (at === words.length - 2 && textOf(words.at(-1)) === 'DL');
}

function textOf(word: Tagged | undefined): string {
  return word?.tokens[0]?.text ?? '';
}

/** A language in capitals after words that are not. */
function isShouted(word: Tagged, before: readonly Tagged[]): boolean {
  return (
    word.tag === 'language' && /^[A-Z]{5,20}$/.test(textOf(word)) && before.some((one) => /[a-z]/.test(textOf(one)))
  );
}

function isGerman(word: Tagged, before: Tagged | undefined): boolean {
  const low = textOf(before).toLowerCase();
  return textOf(word).toLowerCase() === 'german' && low !== 'the' && low !== 'good';
}

import { isYear, type Tagged } from './tags.ts';

/** The year of a name. */
export interface Year {
  at: number;
  year: number;
  /** It follows the release tags. */
  behind?: true;
}

const BRACKET_YEAR =
  /^[([]\s?(\d{4})(?:\s?[-–]\s?(?:\d{4})?)?\s?[)\]]|^\((?!\d)[^()]{2,60}[\s,]{1,2}(?:-\s)?((?:18|19|20)\d\d)\)/;

function bracketYear(text: string): number | undefined {
  const bracketed = BRACKET_YEAR.exec(text);
  const year = bracketed?.[1] ?? bracketed?.[2] ?? '';
  return isYear(year) ? Number(year) : undefined;
}

/** `Film 2016 - Somebody`, `Film.2020.PAL.2x`: a dash or a release tag follows the year. */
function endsTitle(name: string, words: readonly Tagged[], at: number): boolean {
  const end = words[at]?.end ?? name.length;
  return name.slice(end).startsWith(' - ') || words[at + 1]?.tag === 'other';
}

/** The year in the bracket that ends the title, otherwise the last separate one before the release tags. */
export function yearOf(name: string, words: readonly Tagged[], stop: number): Year | undefined {
  const year = bracketYear(name.slice(stop, stop + 80));
  if (year !== undefined) return { at: stop, year };
  const free = words.filter((word) => word.start < stop);
  const at = free.findLastIndex(
    (word, i) => i > 0 && word.tag === 'year' && !word.tokens[0]?.bracket && !isDay(free, i),
  );
  const word = free[at];
  if (!word) return yearBehind(words, stop);
  const followed = free.slice(at + 1).some(({ tag }) => tag === undefined) && !endsTitle(name, free, at);
  return followed && stop === name.length ? undefined : { at: word.start, year: Number(word.tokens[0]?.low) };
}

/** `Film [Group] [2018]`, `Film.1080p.2018`: the title ends earlier. */
function yearBehind(words: readonly Tagged[], stop: number): Year | undefined {
  const word = words.find((one) => one.start >= stop && one.tag === 'year');
  return word && { at: stop, year: Number(word.tokens[0]?.low), behind: true };
}

/** `2013-12-09` is not a year. */
function isDay(words: readonly Tagged[], at: number): boolean {
  const two = (word: Tagged | undefined): boolean => /^\d\d$/.test(word?.tokens[0]?.low ?? '');
  return two(words[at + 1]) && two(words[at + 2]);
}

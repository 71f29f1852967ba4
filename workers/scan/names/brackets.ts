import { editionOf } from './editions.ts';
import { type Tagged, tagsOf } from './tags.ts';

/** `Film [Word] Film`: a bracket inside a title. */
function isOfTitle(words: readonly Tagged[], { tokens: [first] }: Tagged): boolean {
  const bracket = first?.bracket;
  if (bracket?.sign !== '[') return false;
  const inner = words.filter((word) => word.tokens[0]?.bracket === bracket);
  const next = words.find((word) => word.start > bracket.end);
  return inner.every(({ tag }) => tag === undefined) && next?.tag === undefined && isWordOf(next);
}

function isWordOf(word: Tagged | undefined): boolean {
  return word !== undefined && !word.tokens[0]?.bracket && /^\p{L}{2}/u.test(word.tokens[0]?.low ?? '');
}

const MEDIUM = /^\((?:tv|dvd|bd|vhs|hd|sd|mkv|avi|mp4|uncensored|unedited)\)$/i;
const YEARS = /^\(\s?(?:18|19|20)\d\d(?:\s?[-–]\s?(?:\d{4})?)?\s?\)/;
/** `(Director 1983)`. */
const NAME_YEAR = /^\((?!\d)[^()]{2,60}[\s,]{1,2}(?:-\s)?(?:18|19|20)\d\d\)$/;
const DAY = /^\(\d{1,4}-\d{1,2}-\d{1,4}\)$/;

/**
 * A bracket that is not part of the title: a square one, or a round one that contains a year, a date, an edition or a
 * release tag.
 */
export function isInfo(name: string, { tokens: [first], tag }: Tagged): boolean {
  const bracket = first?.bracket;
  if (!bracket) return false;
  if (bracket.sign !== '(' && bracket.sign !== '（') return true;
  const text = name.slice(bracket.start, bracket.end);
  return tag === 'release' || [MEDIUM, YEARS, NAME_YEAR, DAY].some((form) => form.test(text)) || isAside(text);
}

/** Contains only the words of an edition, or a language. */
function isAside(text: string): boolean {
  const words = tagsOf(text.slice(1, -1));
  const language = words.length === 1 && words[0]?.tag === 'language' && text.length > 5;
  return language || (words.every(({ tag }) => tag === 'edition') && editionOf(text, words, 0) !== undefined);
}

/** Where the bracket around a word begins if it contains no words of the title. */
export function infoBracket(name: string, words: readonly Tagged[], word: Tagged): number | undefined {
  const bracket = word.tokens[0]?.bracket;
  return bracket && isInfo(name, word) && !isOfTitle(words, word) ? bracket.start : undefined;
}

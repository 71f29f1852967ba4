import { HEADS } from './edition-words.ts';
import type { Tagged } from './tags.ts';

/** These alone do not identify an edition. */
const ALONE = new Set([
  'cut',
  'edit',
  'edition',
  'version',
  'final',
  'special',
  'ultimate',
  'anniversary',
  'open',
  'matte',
  'hunter',
  'imperial',
  'collection',
  'the',
]);

/** The words of an edition after the title or in its last part, as written. */
export function editionOf(name: string, words: readonly Tagged[], from: number): string | undefined {
  let run: Tagged[] = [];
  for (const word of words.filter((one) => one.start >= from)) {
    if (word.tag === 'edition') run.push(word);
    else {
      const phrase = phraseOf(name, run);
      if (phrase) return phrase;
      run = [];
    }
  }
  return phraseOf(name, run);
}

function phraseOf(name: string, run: readonly Tagged[]): string | undefined {
  const start = run.findIndex((word) => word.tokens[0]?.low !== 'the');
  const words = start < 0 ? [] : run.slice(start);
  const lows = words.map((word) => word.tokens[0]?.low ?? '');
  const [first] = words;
  const last = words.at(-1);
  if (!first || !last || !lows.some((low) => HEADS.has(low))) return undefined;
  if (lows.every((low) => ALONE.has(low)) && !lows.some((low) => isKind(low) && lows.length > 1)) return undefined;
  return name.slice(first.start, last.end);
}

function isKind(low: string): boolean {
  return (
    low === 'cut' || low === 'edition' || low === 'version' || low === 'matte' || low === 'collection' || low === 'edit'
  );
}

import { dated } from './number-days.ts';
import { bracketed, dashed, first, leading, loose, part, short, trailing } from './number-places.ts';
import type { Numbers, Placing, Rule } from './number-ranges.ts';
import { counted, seasonEpisode, seasonNumber, special, worded } from './number-words.ts';
import { releaseSpans } from './tags.ts';

export type { Numbers } from './number-ranges.ts';

/** Reads the numbers of an episode, trying the clearest notation first. */
export function numbersOf(stem: string, placing: Omit<Placing, 'spaced'>): Numbers | undefined {
  const name = masked(stem);
  const spaced = stem.includes(' ');
  for (const rule of RULES) {
    const found = rule(name, { ...placing, spaced });
    if (found) return found;
  }
  return undefined;
}

const CHECKSUM = /[[(]\s?[0-9a-f]{8}\s?[\])]/gi;
const YEAR = /[[(](?:19|20)\d\d(?:-(?:19|20)\d\d)?[\])]/g;
const ID = /[[{(](?:imdb|tmdb|tvdb)(?:id)?[-= ][^\]})]{1,20}[\]})]/gi;

/** Blanks checksums, ids, years in brackets and release tags; everything else keeps its position. */
function masked(stem: string): string {
  const blank = (text: string): string => ' '.repeat(text.length);
  const name = stem.replaceAll(CHECKSUM, blank).replaceAll(ID, blank).replaceAll(YEAR, blank);
  return releaseSpans(name).reduce(
    (text, [start, end]) => text.slice(0, start) + blank(text.slice(start, end)) + text.slice(end),
    name,
  );
}

const RULES: readonly Rule[] = [
  seasonEpisode,
  seasonNumber,
  counted,
  dated,
  worded,
  special,
  short,
  leading,
  dashed,
  bracketed,
  first,
  part,
  trailing,
  loose,
];

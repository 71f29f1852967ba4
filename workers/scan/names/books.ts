import { present } from '#workers/present.ts';
import { tidy } from './title.ts';

export interface NamedBook {
  title: string;
  author?: string;
  year?: number;
  series?: { title: string; number: string };
}

const BETWEEN = ' - ';
const YEAR = / ?[([]((?:1[5-9]|20)\d{2})[)\]]/;
const NUMBER = /^(?:book|vol(?:ume)?|band|tome|#)?[\s.#]{0,2}(\d{1,3}(?:\.\d)?)(?=$|[\s._-])[\s._-]{0,3}/i;
const MOST_BRACKETS = 5;

/**
 * What the name of a book without tags says: `Author - Title (1999)`, `Author - [Series 02] - Title`, `03 - Title`.
 * `folders` are those around it: `Author/Series`.
 */
export function readBookName(stem: string, folders: readonly string[]): NamedBook {
  const { parts, author } = partsOf(stem, folders);
  return {
    title: tidy(withoutNumber(parts.at(-1) ?? stem)) || tidy(stem) || stem,
    ...present({
      author: author === undefined ? undefined : tidy(author),
      year: yearIn(stem),
      series: seriesOf(parts, folders),
    }),
  };
}

function yearIn(stem: string): number | undefined {
  const year = YEAR.exec(stem)?.[1];
  return year === undefined ? undefined : Number(year);
}

/** The author, and the parts of the name after it. */
function partsOf(stem: string, folders: readonly string[]): { parts: readonly string[]; author: string | undefined } {
  const bare = withoutTail(stem.replace(YEAR, ''));
  const parts = bare
    .split(BETWEEN)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const [first = ''] = parts;
  if (parts.length < 2 || NUMBER.test(first)) return { parts, author: folders[0] };
  return { parts: parts.slice(1), author: first };
}

function withoutNumber(part: string): string {
  const rest = part.replace(NUMBER, '');
  return rest === '' ? part : rest;
}

const SERIES = /^[([]?([^()[\]]{1,80}?)[\s,#]{1,3}(\d{1,3}(?:\.\d)?)[)\]]?$/;

/** A middle part `[Series 02]`, or a number before the title in a folder of the series. */
function seriesOf(parts: readonly string[], folders: readonly string[]): NamedBook['series'] {
  const named = parts.length > 1 ? SERIES.exec(parts[0] ?? '') : null;
  if (named) return { title: tidy(named[1] ?? ''), number: String(Number(named[2])) };
  const number = NUMBER.exec(parts[0] ?? '')?.[1];
  const folder = folders.length > 1 ? folders.at(-1) : undefined;
  return number === undefined || folder === undefined
    ? undefined
    : { title: tidy(folder), number: String(Number(number)) };
}

function withoutTail(name: string): string {
  let bare = name.trimEnd();
  for (let i = 0; i < MOST_BRACKETS; i += 1) {
    const open = { ')': '(', ']': '[', '}': '{' }[bare.at(-1) ?? ''];
    const at = open === undefined ? -1 : bare.lastIndexOf(open);
    if (at <= 0) return bare;
    bare = bare.slice(0, at).trimEnd();
  }
  return bare;
}

export interface NamedComic {
  series?: string;
  number?: string;
  volume?: string;
  year?: number;
  title?: string;
}

const ISSUE = /(?:^|[\s._])(?:#|no\.?[\s]?|ch(?:apter)?\.?[\s]?|c)?(\d{1,4}(?:\.\d{1,2})?)(?=$|[\s._([-])/gi;
const VOLUME = /(?:^|[\s._([])v(?:ol(?:ume)?)?\.?[\s]?(\d{1,4})(?=$|[\s._)\]-])/i;

/** `Saga 012 (2013) (Digital)`, `One Piece v03`, `Akira Vol. 2`, `Title #12.5`. */
export function readComicName(stem: string): NamedComic {
  const bare = bareName(stem);
  const volume = VOLUME.exec(bare);
  const rest = volume ? bare.replace(volume[0], '') : bare;
  const issue = [...rest.matchAll(ISSUE)].at(-1);
  const end = issue?.index ?? volume?.index;
  return present({
    series: tidy(rest.slice(0, end)) || undefined,
    number: numberText(issue?.[1]),
    volume: numberText(volume?.[1]),
    year: yearIn(stem),
    title: tidy(issue ? rest.slice(issue.index + issue[0].length) : '') || undefined,
  });
}

const bareName = (stem: string): string => tidy(withoutTail(stem.replace(YEAR, ''))) || stem;

/** Without leading zeros. */
const numberText = (text: string | undefined): string | undefined => text?.replace(/^0+(?=\d)/, '');

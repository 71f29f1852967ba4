import { present } from '#workers/present.ts';
import { tidy, titleKey } from './title.ts';

export interface NamedBook {
  title: string;
  author?: string;
  narrators?: string[];
  year?: number;
  series?: { title: string; number?: string };
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
  const isOfFolder = titleKey(stem) === titleKey(folders.at(-1) ?? ''); // `11-22-63/11-22-63` begins with no number
  return {
    title: tidy(isOfFolder ? stem : withoutNumber(parts.at(-1) ?? stem)) || tidy(stem) || stem,
    ...present({
      author: author === undefined ? undefined : authorIn(author),
      year: yearIn(stem),
      series: seriesIn(stem) ?? seriesOf(parts, folders),
    }),
  };
}

const LAST_FIRST = /^([^,]{2,60}), ([^,]{2,60})$/;
const SUFFIX = /^(?:jr|sr|ii|iii|iv|ph\.?d|m\.?d)\.?$/i;

/** An author as printed: `Orwell, George` is George Orwell. */
function authorIn(name: string): string {
  const [, last, first] = LAST_FIRST.exec(name.trim()) ?? [];
  return tidy(last === undefined || first === undefined || SUFFIX.test(first) ? name : `${first} ${last}`);
}

const BEHIND = /\(([^()]{1,80}?),? (?:#|book |vol\.? ?)?(\d{1,3}(?:\.\d)?)\)$/i;
const COUNTER = /^(?:book|vol\.?|volume|band|tome|part|cd|dis[ck])$/i;

/** The series in brackets behind the title: `Mort (Discworld, #4)`. */
function seriesIn(stem: string): NamedBook['series'] {
  const [, title, number] = BEHIND.exec(stem.trimEnd()) ?? [];
  return title === undefined || COUNTER.test(title)
    ? undefined
    : { title: tidy(title), number: String(Number(number)) };
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
  const author = parts.length > 1 ? parts.find((part) => titleKey(part) === titleKey(folders[0] ?? '')) : undefined;
  if (author !== undefined) return { parts: parts.filter((part) => part !== author), author }; // `Emma - Jane Austen`
  if (parts.length < 2 || NUMBER.test(first) || isSeries(first, folders)) return { parts, author: folders[0] };
  return { parts: parts.slice(1), author: first };
}

/** `Discworld 04` in the folder Discworld of an author. */
function isSeries(part: string, folders: readonly string[]): boolean {
  const title = SERIES.exec(part)?.[1];
  return folders.length > 1 && title !== undefined && titleKey(title) === titleKey(folders.at(-1) ?? '');
}

function withoutNumber(part: string): string {
  const rest = part.replace(NUMBER, '');
  return rest === '' ? part : rest;
}

const SERIES = /^[([]?([^()[\]]{1,80}?)[\s,#]{1,3}(\d{1,3}(?:\.\d)?)[)\]]?$/;

/** A middle part `[Series 02]`, or a number before the title in a folder of the series. */
function seriesOf(parts: readonly string[], folders: readonly string[]): NamedBook['series'] {
  const [first = ''] = parts;
  const [, named, count] = (parts.length > 1 && SERIES.exec(first)) || [];
  if (named !== undefined && !COUNTER.test(named)) return { title: tidy(named), number: String(Number(count)) };
  return folders.length > 1 ? countedIn(folders.at(-1) ?? '', first) : undefined;
}

function countedIn(folder: string, part: string): NamedBook['series'] {
  const number = NUMBER.exec(part)?.[1];
  return number === undefined ? undefined : { title: tidy(folder), number: String(Number(number)) };
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

const NARRATOR = /\s?\{([^{}]{1,200})\}/;
const ASIN = /\s?[[(]B0[0-9A-Z]{8}[\])]/;
const ONLY_YEAR = /^\(?((?:1[5-9]|20)\d{2})\)?$/;
/** `Book 2`, `Vol. 3 Title`, `6. Title`, `0.5`; a number without a word or a point is one on its own only. */
const PLACE =
  /^(?:(?:vol\.?|volume|book|#) ?(\d{1,3}(?:\.\d{1,2})?)[.:]?(?: (.*))?|(\d{1,3}(?:\.\d{1,2})?)(?:\. (.*)|\.?))$/i;

/**
 * What the folder of an audiobook says: `Author/Series/1994 - Book 1 - Title {Narrator}`, `Author/Title - Subtitle`. `folders`
 * are those around it.
 */
export function readBookFolder(folder: string, folders: readonly string[]): NamedBook {
  if (folders.length === 0) return readBookName(folder, folders);
  const [author = '', ...between] = folders.slice(-2);
  const bareName = folder.replace(NARRATOR, '').replace(ASIN, '').trim();
  const { number, parts } = placeIn(bareName.replace(YEAR, '').split(BETWEEN));
  const [first = '', second] = parts;
  const leading = second === undefined ? undefined : ONLY_YEAR.exec(first)?.[1];
  const year = leading === undefined ? yearIn(bareName) : Number(leading);
  const title = tidy((leading === undefined ? first : second) as string) || tidy(folder) || folder;
  const [series] = between.map((name) => ({ title: tidy(name), ...present({ number }) }));
  return { title, author: authorIn(author), ...present({ year, narrators: narratorsIn(folder), series }) };
}

function narratorsIn(folder: string): string[] | undefined {
  const names = NARRATOR.exec(folder)?.[1]?.split(/[,;&]/);
  return names?.flatMap((name) => tidy(name.trim()) || []);
}

/** The number in a series that one of the parts is or begins with, and the parts without it. */
function placeIn(all: readonly string[]): { number: string | undefined; parts: readonly string[] } {
  const parts = all.map((part) => part.trim()).filter((part) => part !== '');
  const at = parts.findIndex((part) => PLACE.test(part));
  const found = at < 0 || (parts.length === 1 && !/[a-z]/i.test(parts[0] ?? '')) ? null : PLACE.exec(parts[at] ?? '');
  if (!found) return { number: undefined, parts };
  const rest = found[2] ?? found[4];
  return {
    number: String(Number(found[1] ?? found[3])),
    parts: rest ? parts.with(at, rest) : parts.toSpliced(at, 1),
  };
}

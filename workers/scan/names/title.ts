import { parseTorrentTitle } from '@viren070/parse-torrent-title';
import { infoBracket, isInfo } from './brackets.ts';
import { editionOf } from './editions.ts';
import { withoutGroup } from './fansubs.ts';
import { isForeign } from './foreign.ts';
import { isYear, type Tagged, tagsOf } from './tags.ts';
import { cut, oneLine, withSpaces } from './text.ts';
import { yearOf } from './years.ts';

/** The parsed name of a file or folder of a film or show. */
export interface Named {
  title: string;
  year?: number;
  /** `imdb`, `tmdb`, `tvdb`. */
  ids: Record<string, string>;
  edition?: string;
  /** Height of the label, such as 1080. */
  resolution?: number;
}

const MAX = 300;
const ID = /[[({]\s?(imdb|tmdb|tvdb)(?:id)?\s?[-=: ]\s?(tt\d{5,10}|\d{1,10})\s?[\])}]/gi;
const BARE_IMDB = /[[({]\s?(tt\d{6,10})\s?[\])}]/gi;
const EDITION = /\{\s?edition-([^{}]{1,80})\}/i;

/** The label of `{edition-…}`. */
export function markedEdition(name: string): string | undefined {
  return EDITION.exec(name.slice(0, MAX))?.[1]?.trim();
}

/** Reads title, year, ids and edition. Never throws; the title is empty only for an empty name. */
export function readName(name: string): Named {
  const short = withSpaces(cut(oneLine(withBrackets(name.normalize('NFC'))), MAX));
  const ids = idsOf(short);
  const edition = markedEdition(short);
  const bare = short.replaceAll(ID, ' ').replaceAll(BARE_IMDB, ' ').replace(EDITION, ' ').trim();
  const { title, rest, year } = split(bare);
  const tags = tagsBehind(rest);
  return {
    title: [title, bare, short].map(tidy).find(isVisible) ?? (name === '' ? '' : UNTITLED),
    ids,
    ...(year === undefined ? {} : { year }),
    ...tags,
    ...(edition ? { edition } : {}),
  };
}

/** Full-width round brackets become ASCII brackets. */
function withBrackets(name: string): string {
  return name.replaceAll('（', '(').replaceAll('）', ')');
}

/** Title of a blank name. */
const UNTITLED = 'Untitled';

function isVisible(title: string): boolean {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(title);
}

function idsOf(name: string): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const [, provider = '', id = ''] of name.matchAll(ID)) ids[provider.toLowerCase()] = id.toLowerCase();
  for (const [, id = ''] of name.matchAll(BARE_IMDB)) ids.imdb ??= id.toLowerCase();
  return ids;
}

/** The title of a name without its year and release tags. */
export function bareTitle(name: string): string {
  const { title } = split(cut(oneLine(name.normalize('NFC')), MAX));
  return tidy(title);
}

/** Edition and height according to the release tags. */
function tagsBehind(rest: string): Pick<Named, 'edition' | 'resolution'> {
  const parsed = parsedTags(`Film ${rest}`);
  const resolution = heightOf(parsed.resolution);
  const phrase = editionOf(rest, tagsOf(rest), 0);
  const known = parsed.editions?.join(', ');
  const edition = phrase !== undefined && (known === undefined || / |\./.test(phrase)) ? tidy(phrase) : known;
  return { ...(edition ? { edition } : {}), ...(resolution ? { resolution } : {}) };
}

function parsedTags(name: string): ReturnType<typeof parseTorrentTitle> {
  try {
    return parseTorrentTitle(name);
  } catch {
    return { title: name };
  }
}

function heightOf(resolution: string | undefined): number | undefined {
  if (resolution === undefined) return undefined;
  if (/^8k$/i.test(resolution)) return 4320;
  if (/^4k$/i.test(resolution)) return 2160;
  return Number(/(\d{3,4})[pi]?$/i.exec(resolution)?.[1]) || undefined;
}

const GROUPS = /^[\s._)\]}-]{0,4}[[({【][^[\](){}【】]{0,80}[\])}】]/;
const MAX_GROUPS = 12;
const BACKWARDS = /^[\s._-]{0,3}e\d{1,4}(?![\p{L}\d])/iu;
const ABSOLUTE =
  /^[\s._]{0,2}-[\s._]{0,2}(?:\d{3,4}(?:-\d{3,4}){0,3}(?=[\s._]{0,2}-)|0\d{2,3}(?:-\d{3,4}){0,3}(?=[\s._]{0,2}$))/;

/** The text after the numbers of an episode, without release tags. */
export function episodeTitle(rest: string): string {
  let name = rest.slice(0, MAX);
  for (let count = 0; count < MAX_GROUPS; count += 1) {
    const group = GROUPS.exec(name) ?? ABSOLUTE.exec(name) ?? BACKWARDS.exec(name);
    if (!group) break;
    name = name.slice(group[0].length);
  }
  const words = tagsOf(name);
  const stop = episodeStop(name, words);
  const end = weakEnd(name, words, { end: stop, year: false });
  return tidy(name.slice(0, end).replace(/^[\s._-]{1,8}/, ''));
}

function episodeStop(name: string, words: readonly Tagged[]): number {
  const found = words.find((word) => word.tag === 'release' || (word.tokens[0]?.bracket && isInfo(name, word)));
  return found?.tokens[0]?.bracket?.start ?? found?.start ?? name.length;
}

interface Split {
  title: string;
  year?: number;
  rest: string;
}

const SITE = /^(?:from\s)?[[\s]{0,2}w{2,3}[.,][^\s\]]{1,60}[\s\]]{0,3}[\s_-]{0,3}/i;

/** Splits a name into its title, its year and the rest. */
function split(name: string): Split {
  const lead = LEADING_YEAR.exec(name);
  if (lead && isYear(lead[1] ?? '')) return { ...split(name.slice(lead[0].length)), year: Number(lead[1]) };
  const named = name.replace(SITE, '');
  const free = withoutGroup(named);
  const bare = withoutLeadingSize(free === named ? free : free.replace(FANSUB_NUMBER, ''));
  const words = tagsOf(bare);
  const stop = stopOf(bare, words);
  const year = yearOf(bare, words, stop);
  const end = year?.at ?? stop;
  const title = bare.slice(0, weakEnd(bare, words, { end, year: year !== undefined && !year.behind }));
  if (tidy(title) === '') return { title: bare, rest: '' };
  return { title, rest: bare.slice(Math.min(bare.length, title.length)), ...(year && { year: year.year }) };
}

/** The latest end of the title: a release tag, a square bracket, or a bracket with a year. */
function stopOf(name: string, words: readonly Tagged[]): number {
  for (const word of words.slice(1)) {
    const start = infoBracket(name, words, word) ?? word.start;
    if (start > 0 && (start < word.start || word.tag === 'release')) return start;
  }
  return name.length;
}

/** `[Group] Title - 13 [720p]`, `[Group] Title E01~E16 END`. */
const FANSUB_NUMBER = /[\s_](?:-[\s_]\d{1,3}(?:v\d)?(?=[\s_]{0,2}(?:\[|$))|E\d{2,3}~E?\d{2,3}(?:\sEND)?)/;
const LEADING_YEAR = /^[([](\d{4})[)\]][\s._-]{0,3}(?=[^\s._-])/;
const LEADING_SIZE =
  /^\(\d{1,2}\)[\s._-]{0,2}(?=\p{L})|^(?:HD )?(?:\d{3,4}p|[hx]26[45])[\s._:-]{1,4}(?:HEVC[\s._-]{1,3})?(?=\p{L})/u;

/** `720p: Film`, `(1) Film`. */
function withoutLeadingSize(name: string): string {
  return name.replace(LEADING_SIZE, '');
}

const ARTICLE = /^[\s._-]{0,8}(?:the|a|an|der|die|das|le|la)?[\s._-]{0,8}$/i;

/** Before a year and at the end only an edition is removed; before release tags, also languages and similar words. */
function weakEnd(name: string, words: readonly Tagged[], { end, year }: { end: number; year: boolean }): number {
  const release = !year && end < name.length;
  const title = words.filter((word) => word.end <= end);
  const run = weakRun(title, release);
  const start = run[0]?.start ?? end;
  if (run.length === 0 || ARTICLE.test(name.slice(0, start))) return end;
  const isExtra = release ? run.some(({ tag }) => tag !== 'edition') : isForeign(title, title.length - run.length);
  return isExtra || isPlainEdition(editionOf(name, run, 0)) || isVersionMark(name.slice(start, end)) ? start : end;
}

const PLAIN_EDITION =
  /\b(?:extended|theatrical|restored|uncensored|workprint|unrated|uncut|remaster(?:ed)?|imax|directors|edition[\s._]collector|despecialized|fanedit|[234]in1)\b|.[\s._](?:cut|edition|version|matte|edit|collection)\b/i;

/** After a title, only words that cannot belong to it. */
function isPlainEdition(phrase: string | undefined): boolean {
  return phrase !== undefined && PLAIN_EDITION.test(phrase);
}

/** `Alien DC (1979)`, `Film 3D (2011)`: abbreviations such as that of the director's cut. */
function isVersionMark(text: string): boolean {
  return /^(?:DC|SE|EE|OM|MULTi|Multi|3[Dd])[\s._]{0,2}$/.test(text);
}

/** The last words that need not belong to the title; the first word always does. */
function weakRun(words: readonly Tagged[], release: boolean): readonly Tagged[] {
  let at = words.length;
  const foreign = release ? undefined : [at - 1, at - 2].find((one) => isForeign(words, one));
  if (foreign !== undefined) return words.slice(foreign);
  while (at > 1 && isWeak(words[at - 1], release)) at -= 1;
  while (words[at]?.tag === 'doubtful') at += 1;
  return words.slice(at);
}

const BEFORE_RELEASE = new Set(['language', 'other', 'doubtful']);

function isWeak(word: Tagged | undefined, release: boolean): boolean {
  if (!word) return false;
  const { tag, tokens } = word;
  return tag === 'edition' || isVersionMark(tokens[0]?.text ?? '') || (release && BEFORE_RELEASE.has(tag ?? 'year'));
}

const TRAILING_ARTICLE = /^(.{1,200}), ?(the|an?|der|die|das|les?|la|el|los|las|il|lo)$/i;

/** Replaces dots and underscores between words by spaces if the name has no others. */
export function tidy(name: string): string {
  const spaced = name.includes(' ') ? name.replaceAll('_', ' ') : name.replaceAll(/[._]/g, ' ');
  const line = trimmed(oneLine(spaced));
  const article = TRAILING_ARTICLE.exec(line);
  return article ? `${article[2]} ${article[1]}` : line;
}

const EDGE = new Set([' ', '-', '–', '—', ',', '_', '+', '~', '|', ';']);

/** Without separators at both ends. */
function trimmed(line: string): string {
  let [start, end] = [0, line.length];
  while (start < end && (EDGE.has(line.charAt(start)) || /[)\]}]/.test(line.charAt(start)))) start += 1;
  while (end > start && (EDGE.has(line.charAt(end - 1)) || isOpening(line, end - 1))) end -= 1;
  return line.slice(start, end);
}

function isOpening(line: string, at: number): boolean {
  return at > 0 && /[([{]/.test(line.charAt(at));
}

/** The common form of different spellings of a title; titles with equal keys are the same. */
export function titleKey(title: string): string {
  const folded = title
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replaceAll(/['’`]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  // A title without letters or digits is its own key.
  return folded === '' ? title.normalize('NFC').trim().toLowerCase() : folded;
}

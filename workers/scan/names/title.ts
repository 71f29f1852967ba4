import { parseTorrentTitle } from '@viren070/parse-torrent-title';

/** What a folder's or file's name says of a film or show. */
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
const ID = /[[({]\s*(imdb|tmdb|tvdb)(?:id)?\s*[-=: ]\s*(tt\d{5,10}|\d{1,10})\s*[\])}]/gi;
const BARE_IMDB = /[[({]\s*(tt\d{6,10})\s*[\])}]/gi;
const EDITION = /\{\s*edition-([^{}]{1,80})\}/i;
/** Title, then the year in brackets: what stands before is taken as it is. */
const BRACKETED_YEAR = /^(.*?\S.*?)[\s._-]*[([](\d{4})(?:-(?:\d{4})?)?[)\]]/;
const LEADING_GROUP = /^\[[^\]]{1,40}\]\s*(?=\S)/;

/** The label of `{edition-…}`. */
export function saidEdition(name: string): string | undefined {
  return EDITION.exec(name.slice(0, MAX))?.[1]?.trim();
}

/** Reads title, year, ids and edition. Never throws; the title is never empty unless the name is. */
export function readName(name: string): Named {
  const short = name.normalize('NFC').slice(0, MAX);
  const ids = idsOf(short);
  const edition = saidEdition(short);
  const bare = short.replaceAll(ID, ' ').replaceAll(BARE_IMDB, ' ').replace(EDITION, ' ').trim();
  const read = bracketed(bare) ?? released(bare);
  const named = edition ? { ...read, ids, edition } : { ...read, ids };
  return { ...named, title: named.title || tidy(bare) || tidy(short) || short.trim() || short };
}

function idsOf(name: string): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const [, provider = '', id = ''] of name.matchAll(ID)) ids[provider.toLowerCase()] = id.toLowerCase();
  for (const [, id = ''] of name.matchAll(BARE_IMDB)) ids.imdb ??= id.toLowerCase();
  return ids;
}

/** Without one of these a name is no release's, and all of it is the title: `The Office (US)`. */
const RELEASE = [
  'year',
  'resolution',
  'quality',
  'codec',
  'group',
  'editions',
  'audio',
  'hdr',
  'bitDepth',
  'site',
  'seasons',
] as const;

type Read = Omit<Named, 'ids'>;

function bracketed(name: string): Read | undefined {
  const match = BRACKETED_YEAR.exec(name);
  const year = Number(match?.[2]);
  if (!match || !isYear(year)) return undefined;
  const title = tidy((match[1] ?? '').replace(LEADING_GROUP, ''));
  return title === '' ? undefined : { title, year, ...released(name.slice(match[0].length), true) };
}

/** What release tags say; with `tagsOnly` the title was found already. */
function released(name: string, tagsOnly: true): Partial<Read>;
function released(name: string): Read;
function released(name: string, tagsOnly = false): Partial<Read> {
  const parsed = parsedTags(name);
  const year = Number(parsed.year);
  const resolution = heightOf(parsed.resolution);
  const edition = parsed.editions?.join(', ');
  const tags = { ...(edition ? { edition } : {}), ...(resolution ? { resolution } : {}) };
  if (tagsOnly) return tags;
  const title = RELEASE.some((tag) => parsed[tag] !== undefined) ? (parsed.title ?? '') : name;
  return { title: tidy(title), ...(isYear(year) ? { year } : {}), ...tags };
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

function isYear(year: number): boolean {
  return year >= 1880 && year <= 2100;
}

/** Dots and underscores between words are spaces, where the name has no others. */
export function tidy(name: string): string {
  const spaced = name.includes(' ') ? name.replaceAll('_', ' ') : name.replaceAll(/[._]+/g, ' ');
  return spaced
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s\-–—]+|[\s\-–—]+$/g, '')
    .trim();
}

/** What two spellings of one title have in common; equal keys are taken for the same. */
export function titleKey(title: string): string {
  const folded = title
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replaceAll(/['’`]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  // A title of signs alone is its own key.
  return folded === '' ? title.normalize('NFC').trim().toLowerCase() : folded;
}

/** By language; the English ones are cut in all, for films keep their names abroad. */
const ARTICLES: Record<string, string> = {
  ca: 'el|la|els|les|en|na|un|una',
  da: 'den|det|de|en|et',
  de: 'der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines',
  es: 'el|la|los|las|lo|un|una|unos|unas',
  fr: 'le|la|les|un|une|des',
  gl: 'o|a|os|as|un|unha',
  hu: 'az|a|egy',
  is: 'hinn|hin|hið',
  it: 'il|lo|la|i|gli|le|un|uno|una',
  nb: 'den|det|de|en|et|ei',
  nl: 'de|het|een',
  nn: 'den|det|dei|ein|ei|eit',
  no: 'den|det|de|en|et|ei',
  pt: 'o|a|os|as|um|uma|uns|umas',
  sv: 'den|det|de|en|ett',
};
/** Those that are written together with the word. */
const ELIDED: Record<string, string> = { ca: "[ln]['’]", fr: "l['’]", it: "(?:l|un|gl)['’]" };

const leading = new Map<string, RegExp>();

function articlesOf(language: string): RegExp {
  const known = leading.get(language);
  if (known) return known;
  const words = ['the', 'an?', ...(ARTICLES[language] ? [ARTICLES[language]] : [])].join('|');
  const elided = ELIDED[language];
  const made = new RegExp(`^(?:(?:${words})\\s+${elided ? `|${elided}` : ''})(?=\\S)`, 'iu');
  leading.set(language, made);
  return made;
}

/** For lists: no leading article of the library's language (English always); the database orders it by that language. */
export function sortTitle(title: string, language = 'en'): string {
  const [own = ''] = language.toLowerCase().split('-');
  return title.replace(articlesOf(own), '').toLowerCase() || title.toLowerCase();
}

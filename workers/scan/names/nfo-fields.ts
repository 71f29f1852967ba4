import { calendarDay } from '#platform/calendar.ts';
import { languageTag } from '#workers/probe/languages.ts';
import { cut, oneLine, partsOf } from './text.ts';

/** An actor, with the ids of catalogues. */
export interface Actor {
  name: string;
  character?: string;
  ids?: Record<string, string>;
}

/** The content of an NFO file. Every member may be absent. */
export interface Nfo {
  /**
   * Name of the root element: `movie`, `tvshow`, `episodedetails`. `address` for a file with only the address of a
   * page.
   */
  root: string;
  title?: string;
  originalTitle?: string;
  /** BCP 47. */
  originalLanguage?: string;
  sortTitle?: string;
  plot?: string;
  tagline?: string;
  year?: number;
  releasedOn?: string;
  runtimeMin?: number;
  rating?: number;
  ageRating?: string;
  season?: number;
  episode?: number;
  airsBefore?: { season: number; episode?: number };
  ids: Record<string, string>;
  genres: string[];
  tags: string[];
  studios: string[];
  countries: string[];
  directors: string[];
  writers: string[];
  actors: Actor[];
  /** People with other roles; only of embedded tags. */
  credits?: { role: 'artist' | 'composer' | 'author' | 'narrator' | 'illustrator' | 'translator'; name: string }[];
}

export const MAX_ITEMS = 200;
export const MAX_TEXT = 20_000;

/** An empty NFO. */
export function emptyNfo(root: string): Nfo {
  const people = { directors: [], writers: [], actors: [] };
  return { root, ids: {}, genres: [], tags: [], studios: [], countries: [], ...people };
}

type List = 'genres' | 'tags' | 'studios' | 'countries' | 'directors' | 'writers';
type Line = 'title' | 'originalTitle' | 'sortTitle' | 'tagline' | 'ageRating';
type Amount = 'year' | 'season' | 'episode' | 'runtimeMin' | 'rating';

const LISTS: Readonly<Record<string, List>> = {
  genre: 'genres',
  tag: 'tags',
  studio: 'studios',
  country: 'countries',
  director: 'directors',
  credits: 'writers',
  writer: 'writers',
};
const LINES: Readonly<Record<string, Line>> = {
  title: 'title',
  originaltitle: 'originalTitle',
  sorttitle: 'sortTitle',
  tagline: 'tagline',
  mpaa: 'ageRating',
};
const NUMBERS: Readonly<Record<string, Amount>> = {
  year: 'year',
  season: 'season',
  episode: 'episode',
  runtime: 'runtimeMin',
  rating: 'rating',
};
/** Elements with an id, by name, and the catalogue of each. */
export const IDS: Readonly<Record<string, string>> = {
  imdbid: 'imdb',
  imdb_id: 'imdb',
  imdb: 'imdb',
  tmdbid: 'tmdb',
  tvdbid: 'tvdb',
};

/** A closed element with its text. */
export interface Closed {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
}

/** Stores one element below the root. The first of equal elements wins. */
export function noteElement(nfo: Nfo, closed: Closed): void {
  const { name, text } = closed;
  const line = LINES[name];
  const list = LISTS[name];
  const number = NUMBERS[name];
  if (line) noteLine(nfo, line, text);
  else if (name === 'plot') notePlot(nfo, text);
  else if (list) noteList(nfo[list], text);
  else if (number) noteNumber(nfo, number, text);
  else noteSpecial(nfo, { ...closed, text: oneLine(text) });
}

/** A blank title is ignored. */
function noteLine(nfo: Nfo, name: Line, text: string): void {
  const line = oneLine(text);
  if (line !== '') nfo[name] ??= line;
}

function notePlot(nfo: Nfo, text: string): void {
  const plot = cut(text.trim(), MAX_TEXT);
  if (plot !== '') nfo.plot ??= plot;
}

function noteList(list: string[], text: string): void {
  const room = Math.max(0, MAX_ITEMS - list.length);
  list.push(...partsOf(text, '/').slice(0, room));
}

function noteNumber(nfo: Nfo, name: Amount, text: string): void {
  const number = Number.parseFloat(cut(text.trim(), 40).replace(',', '.'));
  if (!Number.isFinite(number) || number < 0 || number > 100_000) return;
  nfo[name] ??= name === 'rating' ? number : Math.trunc(number);
}

const LANGUAGES = new Set(['originallanguage', 'original_language']);
const DAYS = new Set(['premiered', 'aired', 'releasedate']);
const AIRS: Readonly<Record<string, 'season' | 'episode'>> = {
  airsbefore_season: 'season',
  displayseason: 'season',
  airsbefore_episode: 'episode',
  displayepisode: 'episode',
};

function noteSpecial(nfo: Nfo, { name, attributes, text }: Closed): void {
  noteId(nfo, providerOf(name, attributes, text), text);
  const day = DAYS.has(name) ? calendarDay(text) : undefined;
  if (day) nfo.releasedOn ??= day;
  const language = LANGUAGES.has(name) ? languageTag(text) : undefined;
  if (language) nfo.originalLanguage ??= language;
  const airs = AIRS[name];
  if (airs) noteAirs(nfo, airs, text);
  if (name === 'airsafter_season') noteAirs(nfo, 'season', String(Number(text) + 1));
}

function providerOf(name: string, attributes: Readonly<Record<string, string>>, text: string): string | undefined {
  if (name === 'uniqueid') return attributes.type?.toLowerCase();
  return name === 'id' && /^tt\d{5,10}$/.test(text) ? 'imdb' : IDS[name];
}

function noteId(nfo: Nfo, provider: string | undefined, text: string): void {
  if (provider && /^[a-z]{2,20}$/.test(provider) && /^[\w-]{1,40}$/.test(text)) nfo.ids[provider] ??= text;
}

function noteAirs(nfo: Nfo, member: 'season' | 'episode', text: string): void {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) return;
  nfo.airsBefore = { ...(nfo.airsBefore ?? { season: 0 }), [member]: number };
}

/** One of `<ratings>`. */
export interface Rating {
  value: number;
  /** The highest possible value. */
  max: number;
  chosen: boolean;
}

/** Scaled to ten: the rating marked as default, otherwise the first. */
export function noteRatings(nfo: Nfo, ratings: readonly Rating[]): void {
  const usable = ratings.filter(({ value, max }) => value > 0 && max > 0 && value <= max);
  const rating = usable.find(({ chosen }) => chosen) ?? usable[0];
  if (rating) nfo.rating ??= Math.round((rating.value / rating.max) * 1000) / 100;
}

const PAGES: readonly (readonly [provider: string, page: RegExp])[] = [
  ['imdb', /imdb\.(?:com|de)\/(?:[a-z]{2}\/)?title\/(tt\d{5,10})(?!\d)/i],
  ['tmdb', /themoviedb\.org\/(?:movie|tv)\/(\d{1,10})(?!\d)/i],
  ['tvdb', /thetvdb\.com\/(?:dereferrer\/series\/|\?(?:[^\s"<>]{0,60}[&;])?id=)(\d{1,10})(?!\d)/i],
];

/** Ids in the page addresses of a text. */
export function idsOfPages(text: string): Record<string, string> {
  const found = PAGES.flatMap(([provider, page]) => {
    const id = page.exec(text)?.[1];
    return id === undefined ? [] : [[provider, id.toLowerCase()]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

import { SaxesParser } from 'saxes';
import { languageTag } from '#workers/probe/languages.ts';
import { calendarDay } from './days.ts';

/** What an NFO file says. Every member may be absent. */
export interface Nfo {
  /** Name of the root element: `movie`, `tvshow`, `episodedetails`. */
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
  actors: { name: string; character?: string }[];
}

/** Larger ones are not read. */
export const NFO_BYTES = 2 * 1024 * 1024;
const MAX_DEPTH = 12;
const MAX_ITEMS = 200;
const MAX_TEXT = 20_000;

/** Reads an NFO. Document types and entities are refused, so nothing outside the file is ever named. Nothing when it is no XML of ours. */
export function readNfo(text: string): Nfo | undefined {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return undefined;
  const parser = new SaxesParser();
  const reading = new Reading();
  parser.on('error', () => {
    reading.failed = true;
  });
  parser.on('opentag', (tag) => reading.open(tag.name, tag.attributes as Record<string, string>));
  parser.on('text', (chunk) => reading.text(chunk));
  parser.on('cdata', (chunk) => reading.text(chunk));
  parser.on('closetag', () => reading.close());
  try {
    // A second document or an address behind the first (as Kodi writes) is not read.
    parser.write(text.replace(/^\uFEFF/, '').trimStart()).close();
  } catch {
    reading.failed = true;
  }
  return reading.answer();
}

const LISTS: Readonly<Record<string, 'genres' | 'tags' | 'studios' | 'countries' | 'directors' | 'writers'>> = {
  genre: 'genres',
  tag: 'tags',
  studio: 'studios',
  country: 'countries',
  director: 'directors',
  credits: 'writers',
  writer: 'writers',
};
const TEXTS: Readonly<Record<string, 'title' | 'originalTitle' | 'sortTitle' | 'plot' | 'tagline' | 'ageRating'>> = {
  title: 'title',
  originaltitle: 'originalTitle',
  sorttitle: 'sortTitle',
  plot: 'plot',
  tagline: 'tagline',
  mpaa: 'ageRating',
};
const NUMBERS: Readonly<Record<string, 'year' | 'season' | 'episode' | 'runtimeMin' | 'rating'>> = {
  year: 'year',
  season: 'season',
  episode: 'episode',
  runtime: 'runtimeMin',
  rating: 'rating',
};
const IDS: Readonly<Record<string, string>> = { imdbid: 'imdb', imdb_id: 'imdb', tmdbid: 'tmdb', tvdbid: 'tvdb' };

class Reading {
  failed = false;
  readonly #path: { name: string; attributes: Record<string, string>; text: string }[] = [];
  #nfo: Nfo | undefined;
  #actor: { name: string; character?: string } | undefined;
  #ended = false;

  open(name: string, attributes: Record<string, string>): void {
    const low = name.toLowerCase();
    if (this.#path.length === 0) this.#begin(low);
    if (this.#path.length < MAX_DEPTH) this.#path.push({ name: low, attributes, text: '' });
    else this.failed = true;
    if (low === 'actor') this.#actor = { name: '' };
  }

  #begin(root: string): void {
    if (this.#nfo) this.#ended = true;
    this.#nfo ??= {
      root,
      ids: {},
      genres: [],
      tags: [],
      studios: [],
      countries: [],
      directors: [],
      writers: [],
      actors: [],
    };
  }

  text(chunk: string): void {
    const top = this.#path.at(-1);
    if (top && top.text.length < MAX_TEXT) top.text += chunk;
  }

  close(): void {
    const element = this.#path.pop();
    const nfo = this.#nfo;
    if (!element || !nfo || this.#ended) return;
    const value = element.text.trim().slice(0, MAX_TEXT);
    if (this.#path.length === 2 && this.#actor && value !== '') this.#noteActor(element.name, value);
    if (this.#path.length !== 1) return;
    if (element.name === 'actor') this.#endActor(nfo);
    else if (value !== '') note(nfo, element, value);
  }

  #noteActor(name: string, value: string): void {
    if (!this.#actor) return;
    if (name === 'name') this.#actor.name = value;
    if (name === 'role') this.#actor.character = value;
  }

  #endActor(nfo: Nfo): void {
    if (this.#actor?.name && nfo.actors.length < MAX_ITEMS) nfo.actors.push(this.#actor);
    this.#actor = undefined;
  }

  /** What was read before a fault counts, when the root was whole enough to have a title or an id. */
  answer(): Nfo | undefined {
    const nfo = this.#nfo;
    if (!nfo || !/^(?:movie|tvshow|episodedetails|video|musicvideo)$/.test(nfo.root)) return undefined;
    return this.failed && nfo.title === undefined && Object.keys(nfo.ids).length === 0 ? undefined : nfo;
  }
}

interface Closed {
  name: string;
  attributes: Record<string, string>;
}

function note(nfo: Nfo, { name, attributes }: Closed, value: string): void {
  const text = TEXTS[name];
  const list = LISTS[name];
  const number = NUMBERS[name];
  if (text) nfo[text] ??= value;
  else if (list) noteList(nfo[list], value);
  else if (number) noteNumber(nfo, number, value);
  else noteSpecial(nfo, { name, attributes }, value);
}

function noteList(list: string[], value: string): void {
  for (const part of value.split(/\s*\/\s*/)) if (part !== '' && list.length < MAX_ITEMS) list.push(part);
}

function noteNumber(nfo: Nfo, name: 'year' | 'season' | 'episode' | 'runtimeMin' | 'rating', value: string): void {
  const number = Number.parseFloat(value.replace(',', '.'));
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

function noteSpecial(nfo: Nfo, { name, attributes }: Closed, value: string): void {
  noteId(nfo, providerOf(name, attributes, value), value);
  const day = DAYS.has(name) ? calendarDay(value) : undefined;
  if (day) nfo.releasedOn ??= day;
  const language = LANGUAGES.has(name) ? languageTag(value) : undefined;
  if (language) nfo.originalLanguage ??= language;
  const airs = AIRS[name];
  if (airs) noteAirs(nfo, airs, value);
  if (name === 'airsafter_season') noteAirs(nfo, 'season', String(Number(value) + 1));
}

function providerOf(name: string, attributes: Record<string, string>, value: string): string | undefined {
  if (name === 'uniqueid') return attributes.type?.toLowerCase();
  return name === 'id' && /^tt\d{5,10}$/.test(value) ? 'imdb' : IDS[name];
}

function noteId(nfo: Nfo, provider: string | undefined, value: string): void {
  if (provider && /^[a-z]{2,20}$/.test(provider) && /^[\w-]{1,40}$/.test(value)) nfo.ids[provider] ??= value;
}

function noteAirs(nfo: Nfo, member: 'season' | 'episode', value: string): void {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) return;
  nfo.airsBefore = { ...(nfo.airsBefore ?? { season: 0 }), [member]: number };
}

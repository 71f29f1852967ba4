import { calendarDay } from '#platform/calendar.ts';
import type { Nfo } from './nfo.ts';
import { cut, partsOf } from './text.ts';

const MAX_ITEMS = 50;
const MAX_TEXT = 20_000;
const MAX_ID = 100;
const FIRST_FILM = 1870;

type Tags = Readonly<Record<string, string>>;

/**
 * Data about the film from a container's tags (keys in lower case), in the shape of an NFO file. Never the title: in
 * films that is often the name of a release or a site.
 */
export function readEmbedded(tags: Tags): Nfo | undefined {
  const one = (...names: string[]): string | undefined =>
    names.map((name) => cut(tags[name] ?? '', MAX_TEXT).trim()).find((text) => text !== '');
  const many = (...names: string[]): string[] => partsOf(one(...names) ?? '', ';,/|').slice(0, MAX_ITEMS);
  const plot = one('synopsis', 'description', 'summary');
  const ageRating = cut(one('law_rating') ?? '', MAX_ID);
  const tagged: Nfo = {
    root: 'embedded',
    ...(plot && { plot }),
    ...(ageRating && { ageRating }),
    ...datesOf(one('date_released', 'date')),
    ids: idsOf(tags),
    genres: many('genre'),
    tags: many('keywords'),
    studios: many('production_studio', 'publisher'),
    countries: [],
    directors: many('director'),
    writers: many('written_by', 'screenplay_by'),
    actors: many('actor').map((name) => ({ name })),
  };
  const says = Object.values(tagged).some((value) => typeof value === 'object' && Object.keys(value).length > 0);
  return says || tagged.plot || tagged.ageRating || tagged.year ? tagged : undefined;
}

/** A full date, or only a year. */
function datesOf(text = ''): Pick<Nfo, 'year' | 'releasedOn'> {
  const year = Number(/^\d{4}(?=$|\D)/.exec(text)?.[0]);
  if (!(year >= FIRST_FILM && year <= new Date().getFullYear() + 2)) return {};
  const releasedOn = calendarDay(text.slice(0, 10));
  return { year, ...(releasedOn && { releasedOn }) };
}

const IDS: Readonly<Record<string, RegExp>> = {
  imdb: /^(tt\d{5,10})$/,
  tmdb: /^(?:\w+\/)?(\d{1,10})$/,
  tvdb: /^(\d{1,10})$/,
};

function idsOf(tags: Tags): Record<string, string> {
  const found = Object.entries(IDS).flatMap(([provider, shape]) => {
    const id = shape.exec(cut(tags[provider] ?? '', MAX_ID).trim())?.[1];
    return id ? [[provider, id]] : [];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

/** The NFO file wins; tags fill the gaps of the NFO and of the year in the name. */
export function withEmbedded(nfo: Nfo | undefined, tags: Tags, year: number | undefined): Nfo | undefined {
  const tagged = readEmbedded(tags);
  if (!tagged) return nfo;
  const other = year !== undefined && tagged.year !== year; // the date of another edition, or of the file
  const { year: _, releasedOn, ...rest } = tagged;
  const base: Nfo = other ? rest : year === undefined ? tagged : { ...rest, ...(releasedOn && { releasedOn }) };
  if (!nfo) return base;
  const filled = Object.entries(nfo).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return { ...base, ...Object.fromEntries(filled), ids: { ...base.ids, ...nfo.ids } } as Nfo;
}

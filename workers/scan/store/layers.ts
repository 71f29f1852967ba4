import { MAX_TITLE } from '#areas/libraries/public.ts';
import type { ItemValues, Layer, NamedCredit } from '#platform/item-values.ts';
import type { Draft } from '../group/draft.ts';
import type { Nfo } from '../names/nfo.ts';

const MAX_NAME = 200;

/** Types whose drafts are made of the tags in their files. */
const TAGGED = new Set(['artist', 'album', 'track', 'photo', 'author', 'book', 'audiobook', 'comic', 'comic-series']);

/** What a scan knows of an item, by source. */
export function layersOf(draft: Draft): Layer[] {
  const { nfo } = draft;
  if (nfo?.root === 'embedded' && TAGGED.has(draft.type))
    return [{ source: 'embedded', values: { ...namedBy(draft), ...describedBy(nfo) } }];
  const named: Layer = { source: 'file-name', values: namedBy(draft) };
  return nfo ? [named, { source: nfo.root === 'embedded' ? 'embedded' : 'nfo', values: describedBy(nfo) }] : [named];
}

function namedBy(draft: Draft): ItemValues {
  const details = draft.details ?? {};
  return known({
    title: draft.title.slice(0, MAX_TITLE),
    year: draft.year,
    releasedOn: draft.releasedOn,
    index: draft.index,
    indexEnd: draft.indexEnd,
    parentIndex: draft.parentIndex,
    takenAt: draft.takenAt,
    externalIds: draft.ids,
    artists: names(details['artists']),
    authors: names(details['authors']),
    narrators: names(details['narrators']),
    publisher: details['publisher'] as string | undefined,
    isbn: details['isbn'] as string | undefined,
    series: details['series'] as ItemValues['series'],
    platform: details['platform'] as string | undefined,
    readingDirection: details['readingDirection'] as ItemValues['readingDirection'],
    originalLanguage: details['originalLanguage'] as string | undefined,
    takenAtOffset: details['takenOffsetMinutes'] as number | undefined,
    place: details['place'] as ItemValues['place'],
  });
}

const names = (list: unknown): string[] | undefined =>
  Array.isArray(list) ? list.map((one: { name: string }) => one.name) : undefined;

function describedBy(nfo: Nfo): ItemValues {
  return known({
    title: nfo.title?.slice(0, MAX_TITLE),
    sortTitle: nfo.sortTitle?.toLowerCase().slice(0, MAX_TITLE),
    originalTitle: nfo.originalTitle?.slice(0, MAX_TITLE),
    overview: nfo.plot,
    tagline: nfo.tagline,
    year: nfo.year,
    releasedOn: nfo.releasedOn,
    ageRating: nfo.ageRating,
    airsBefore: nfo.airsBefore,
    rating: nfo.rating !== undefined && nfo.rating <= 10 ? nfo.rating : undefined,
    originalLanguage: nfo.originalLanguage,
    genres: cut(nfo.genres),
    tags: cut(nfo.tags),
    studios: cut(nfo.studios),
    countries: cut(nfo.countries),
    people: peopleOf(nfo),
    externalIds: nfo.ids,
  });
}

const cut = (list: readonly string[]): string[] => [...new Set(list.map((name) => name.slice(0, MAX_NAME)))];

function peopleOf(nfo: Nfo): NamedCredit[] {
  const person = (role: string, name: string, character?: string): NamedCredit => ({
    role,
    name: name.slice(0, MAX_NAME),
    ...(character !== undefined && { character: character.slice(0, MAX_NAME) }),
  });
  return [
    ...nfo.actors.map(({ name, character }) => person('actor', name, character)),
    ...nfo.directors.map((name) => person('director', name)),
    ...nfo.writers.map((name) => person('writer', name)),
    ...(nfo.credits ?? []).map(({ role, name }) => person(role, name)),
  ];
}

/** Without absent and empty members: an empty list says nothing. */
function known(values: { [K in keyof ItemValues]: ItemValues[K] | undefined }): ItemValues {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => {
      if (value === undefined || value === null) return false;
      return typeof value !== 'object' || Object.keys(value).length > 0;
    }),
  ) as ItemValues;
}

// Fields, origins and values as people read them.
import type { FieldOrigin, PersonRole } from 'foyer-client';
import { entryOf, type Link, PARTS, type Person } from '#core/editing/fields.ts';
import { clockText, dateText } from '#features/item/words.ts';
import * as m from '#messages/editing.ts';

type Texts = Readonly<Record<string, () => string>>;

const FIELDS: Texts = {
  ...{ title: m.fTitle, sortTitle: m.fSortTitle, originalTitle: m.fOriginalTitle, overview: m.fOverview },
  ...{ tagline: m.fTagline, year: m.fYear, releasedOn: m.fReleasedOn, ageRating: m.fAgeRating, rating: m.fRating },
  ...{ index: m.fIndex, indexEnd: m.fIndexEnd, parentIndex: m.fParentIndex, airsBefore: m.fAirsBefore },
  ...{ status: m.fStatus, genres: m.fGenres, tags: m.fTags, studios: m.fStudios, countries: m.fCountries },
  ...{ originalLanguage: m.fOriginalLanguage, people: m.fPeople, artists: m.fArtists, authors: m.fAuthors },
  ...{ narrators: m.fNarrators, publisher: m.fPublisher, isbn: m.fIsbn, series: m.fSeries, platform: m.fPlatform },
  ...{ takenAt: m.fTakenAt, takenAtOffset: m.fTakenAtOffset, place: m.fPlace, links: m.fLinks },
  ...{ readingDirection: m.fReadingDirection, externalIds: m.fExternalIds, labels: m.fLabels },
  ...{ edition: m.fEdition, chapters: m.fChapters },
};

/** The name of a field; one of a file has the file's id after a colon. */
export const fieldText = (field: string): string => FIELDS[field.split(':')[0] ?? '']?.() ?? field;

const CHOICES: Texts = {
  ...{ continuing: m.continuing, ended: m.ended, upcoming: m.upcoming },
  ...{ ltr: m.leftToRight, rtl: m.rightToLeft, vertical: m.vertical },
};
export const choiceText = (value: string): string => CHOICES[value]?.() ?? value;

const PART_TEXTS: Texts = {
  ...{ season: m.season, episode: m.episode, title: m.partTitle, number: m.partNumber },
  ...{ latitude: m.latitude, longitude: m.longitude },
};
export const partText = (name: string): string => PART_TEXTS[name]?.() ?? name;

const ROLES: Readonly<Record<PersonRole, () => string>> = {
  ...{ actor: m.actor, voice: m.voice, guest: m.guest, self: m.self, presenter: m.presenter, director: m.director },
  ...{ writer: m.writer, creator: m.creator, producer: m.producer, composer: m.composer, editor: m.editor },
  ...{ cinematographer: m.cinematographer, author: m.author, narrator: m.narrator, illustrator: m.illustrator },
  ...{ translator: m.translator, artist: m.artist, conductor: m.conductor, performer: m.performer },
  ...{ lecturer: m.lecturer, other: m.otherRole },
};
export const roles = Object.entries(ROLES).map(([value, label]) => ({ value: value as PersonRole, label }));

/** Names that catalogues have, where their id does not say it. */
const AGENTS: Readonly<Record<string, string>> = {
  ...{ tmdb: 'TMDB', tvdb: 'TheTVDB', omdb: 'OMDb', anilist: 'AniList', musicbrainz: 'MusicBrainz', igdb: 'IGDB' },
  ...{ openlibrary: 'Open Library', wikidata: 'Wikidata', comicvine: 'Comic Vine', fanart: 'fanart.tv' },
};

/** The name of a catalogue. */
export const agentText = (id: string): string => AGENTS[id] ?? id;
export const isCatalogue = (id: string): boolean => id in AGENTS;

/** Where the value of a field comes from. */
export function originText({ source, agent = '', changedBy, changedAt, value }: FieldOrigin): string {
  const date = changedAt ? dateText(changedAt) : '';
  if (source === 'person')
    return changedBy ? m.byPerson({ name: changedBy.displayName, date }) : m.bySomebody({ date });
  if (source === 'agent') return m.fromAgent({ name: agentText(agent) });
  if (source === 'default') return value === null ? m.fromNothing() : m.fromDefault();
  return { nfo: m.fromNfo, embedded: m.fromTags, 'file-name': m.fromName }[source]();
}

const joined = (texts: readonly string[]): string => texts.filter(Boolean).join(', ');

/** A value in one line. */
export function valueText(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return m.noValue();
  if (field.startsWith('chapters:'))
    return joined(
      (value as { title: string; startMs: number }[]).map(({ title, startMs }) => `${clockText(startMs)} ${title}`),
    );
  const entry = entryOf(field);
  if (entry === 'choice') return choiceText(String(value));
  if (entry === 'date') return dateText(String(value));
  if (entry === 'people')
    return (
      joined((value as Person[]).map(({ name, character }) => (character ? `${name} (${character})` : name))) ||
      m.noValue()
    );
  if (entry === 'links') return joined((value as Link[]).map(({ name }) => name)) || m.noValue();
  if (entry === 'ids')
    return joined(Object.entries(value as object).map(([provider, id]) => `${provider} ${id}`)) || m.noValue();
  if (entry === 'parts')
    return joined((PARTS[field] ?? []).map(({ name }) => String((value as Record<string, unknown>)[name] ?? '')));
  return Array.isArray(value) ? joined(value as string[]) || m.noValue() : String(value);
}

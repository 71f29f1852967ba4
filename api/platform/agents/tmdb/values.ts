import { calendarDay } from '../../calendar.ts';
// Answers of TMDB as values of items.
import type { ItemValues, NamedCredit } from '../../item-values.ts';
import type { RemotePicture } from '../agent.ts';
import { credits, known, names, roleOf, yearOf } from '../parts.ts';
import type { Credits, Episode, Picture, Season, Title } from './schemas.ts';

const TAGS = 30;

/** Ratings of fewer people say little. */
const rated = (average: number | undefined, votes: number | undefined): number | undefined =>
  average && (votes ?? 0) >= 3 ? Math.round(average * 10) / 10 : undefined;

export function valuesOf(title: Title, country: string | undefined): ItemValues {
  const released = calendarDay(title.release_date ?? title.first_air_date);
  const keywords = title.keywords ? [...title.keywords.keywords, ...title.keywords.results] : [];
  return known<ItemValues>({
    title: title.title ?? title.name,
    originalTitle: title.original_title ?? title.original_name,
    overview: title.overview,
    tagline: title.tagline,
    year: yearOf(released),
    releasedOn: released,
    ageRating: certificateOf(title, country),
    rating: rated(title.vote_average, title.vote_count),
    status: statusOf(title.status),
    genres: names(title.genres.map(({ name }) => name)),
    tags: names(
      keywords.map(({ name }) => name),
      TAGS,
    ),
    studios: names([...title.networks, ...title.production_companies].map(({ name }) => name)),
    countries: names([...title.production_countries.map((one) => one.iso_3166_1), ...title.origin_country]),
    originalLanguage: title.original_language,
    people: peopleOf(title),
    externalIds: idsOf(title),
  });
}

function statusOf(word: string | undefined): ItemValues['status'] {
  if (word === 'Ended' || word === 'Canceled') return 'ended';
  if (word === 'Returning Series') return 'continuing';
  return word && ['Planned', 'In Production', 'Post Production', 'Rumored', 'Pilot'].includes(word)
    ? 'upcoming'
    : undefined;
}

/** The certificate of the country, else the one of the United States. */
function certificateOf(title: Title, country: string | undefined): string | undefined {
  const codes = [country, 'US'];
  return codes.flatMap((code) => (code ? certificatesOf(title, code) : [])).find((word) => word !== undefined);
}

function certificatesOf({ release_dates: films, content_ratings: shows }: Title, code: string): (string | undefined)[] {
  const dates = films?.results.find((one) => one.iso_3166_1 === code)?.release_dates ?? [];
  const show = shows?.results.find((one) => one.iso_3166_1 === code)?.rating;
  return [...dates.map(({ certification }) => certification), show];
}

export function idsOf({ id, imdb_id, external_ids: ids }: Pick<Title, 'id' | 'imdb_id' | 'external_ids'>) {
  return known<Record<string, string>>({
    tmdb: String(id),
    imdb: imdb_id ?? ids?.imdb_id,
    tvdb: ids?.tvdb_id ? String(ids.tvdb_id) : undefined,
    wikidata: ids?.wikidata_id,
  });
}

function peopleOf(title: Title): NamedCredit[] {
  const creators = title.created_by.map(({ id, name }) => credit('creator', { id, name }));
  const all = title.aggregate_credits ?? title.credits;
  return credits([...(all ? castOf(all.cast) : []), ...creators, ...(all ? crewOf(all.crew) : [])]);
}

const credit = (role: string, person: { id?: number | undefined; name?: string | undefined }): NamedCredit => ({
  role,
  name: person.name ?? '',
  ...(person.id !== undefined && { ids: { tmdb: String(person.id) } }),
});

const castOf = (cast: Credits['cast'], guest = false): NamedCredit[] =>
  cast.map((one) => {
    const character = one.character ?? one.roles[0]?.character;
    return { ...credit('actor', one), ...(character && { character }), ...(guest && { guest }) };
  });

const crewOf = (crew: Credits['crew']): NamedCredit[] =>
  crew.flatMap((one) => {
    const job = one.job ?? one.jobs[0]?.job;
    const role = job ? roleOf(job) : 'other';
    return role === 'other' ? [] : [{ ...credit(role, one), ...(job && { job }) }];
  });

export function seasonValues(season: Season): ItemValues {
  return known<ItemValues>({
    title: season.name,
    overview: season.overview,
    year: yearOf(season.air_date),
    releasedOn: calendarDay(season.air_date),
  });
}

export function episodeValues(episode: Episode): ItemValues {
  return known<ItemValues>({
    title: episode.name,
    overview: episode.overview,
    year: yearOf(episode.air_date),
    releasedOn: calendarDay(episode.air_date),
    rating: rated(episode.vote_average, episode.vote_count),
    people: credits([...castOf(episode.guest_stars, true), ...crewOf(episode.crew)]),
    externalIds: { tmdb: String(episode.id) },
  });
}

export function pictureOf(kind: RemotePicture['kind'], base: string, picture: Picture): RemotePicture[] {
  const { file_path: path, width, height, iso_639_1: language, vote_average: score, vote_count: votes } = picture;
  if (!path || !/^\/[\w.-]{1,100}$/.test(path) || path.endsWith('.svg')) return [];
  const url = `${base}original${path}`;
  return [known<RemotePicture>({ kind, url, previewUrl: `${base}w342${path}`, width, height, language, score, votes })];
}

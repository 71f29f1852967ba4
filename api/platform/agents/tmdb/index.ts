import { calendarDay } from '../../calendar.ts';
import type { Agent, Description, Found, Identity, KnownChild, Query, RemotePicture, Wanted } from '../agent.ts';
import { IMDB, idOf, known, NUMBER, yearOf } from '../parts.ts';
import { personOf } from './person.ts';
import { Configuration, FoundBy, type Result, Search, Season, Title } from './schemas.ts';
import { episodeValues, idsOf, pictureOf, seasonValues, valuesOf } from './values.ts';

const MOST_FOUND = 20;
/** A show with more seasons has its others without episodes. */
const MOST_SEASONS = 60;
const PICTURES = 'https://image.tmdb.org/t/p/';

const branchOf = (type: string): 'movie' | 'tv' => (type === 'movie' ? 'movie' : 'tv');
const codeOf = (language: string): string => language.split('-')[0] ?? 'en';

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const branch = branchOf(wanted.type);
  const base = await pictureBase(query);
  const own = idOf(wanted.ids, 'tmdb', NUMBER);
  if (own) {
    const title = await titleOf(query, { ...wanted, ids: { tmdb: own } });
    return title ? [{ ...foundOf(wanted, title, base), ...countsOf(title), ids: idsOf(title) }] : [];
  }
  const byId = await findById(query, wanted, branch);
  if (byId.length > 0) return byId.map((result) => foundOf(wanted, result, base));
  const year = branch === 'movie' ? { year: wanted.year } : { first_air_date_year: wanted.year };
  const search = { query: wanted.title, include_adult: 'false', language: wanted.language };
  const path = `/3/search/${branch}`;
  const dated = await query({ path, query: { ...search, ...year }, schema: Search });
  const results = dated?.results.length || !wanted.year ? dated : await query({ path, query: search, schema: Search });
  return (results?.results ?? []).slice(0, MOST_FOUND).map((result) => foundOf({ ...wanted, ids: {} }, result, base));
}

async function findById(query: Query, wanted: Wanted, branch: 'movie' | 'tv'): Promise<Result[]> {
  const sources = [
    ['imdb_id', idOf(wanted.ids, 'imdb', IMDB)],
    ['tvdb_id', branch === 'tv' ? idOf(wanted.ids, 'tvdb', NUMBER) : undefined],
  ] as const;
  for (const [source, id] of sources) {
    if (!id) continue;
    const found = await query({
      path: `/3/find/${id}`,
      query: { external_source: source, language: wanted.language },
      schema: FoundBy,
    });
    const results = branch === 'movie' ? found?.movie_results : found?.tv_results;
    if (results?.length) return results;
  }
  return [];
}

function foundOf({ type, ids }: Pick<Wanted, 'type' | 'ids'>, result: Result | Title, base: string): Found {
  const released = calendarDay(result.release_date ?? result.first_air_date);
  const poster = 'poster_path' in result ? result.poster_path : undefined;
  return known<Found>({
    ids: { ...ids, tmdb: String(result.id) },
    type,
    title: result.title ?? result.name ?? '',
    originalTitle: result.original_title ?? result.original_name,
    year: yearOf(released),
    releasedOn: released,
    overview: result.overview,
    poster: poster && `${base}w342${poster}`,
  });
}

const countsOf = (title: Title): Pick<Found, 'childCounts' | 'runtimeMs'> =>
  known({
    childCounts: title.number_of_seasons
      ? known<{ seasons: number; episodes: number }>({
          seasons: title.number_of_seasons,
          episodes: title.number_of_episodes,
        })
      : undefined,
    runtimeMs: title.runtime ? title.runtime * 60_000 : undefined,
  });

/** The address of pictures, as the catalogue names it. */
export async function pictureBase(query: Query): Promise<string> {
  const answer = await query({ path: '/3/configuration', schema: Configuration });
  return answer?.images.secure_base_url ?? PICTURES;
}

type Place = Pick<Identity, 'type' | 'ids' | 'language'>;

async function titleOf(query: Query, { type, ids, language }: Place): Promise<Title | undefined> {
  const id = idOf(ids, 'tmdb', NUMBER);
  if (!id) return undefined;
  const branch = branchOf(type);
  const more = branch === 'movie' ? 'credits,release_dates' : 'aggregate_credits,content_ratings';
  return query({
    path: `/3/${branch}/${id}`,
    query: {
      language,
      append_to_response: `${more},images,external_ids,keywords`,
      include_image_language: `${codeOf(language)},en,null`,
    },
    schema: Title,
  });
}

async function seasonOf(query: Query, { ids, language }: Place, number: number): Promise<Season | undefined> {
  const id = idOf(ids, 'tmdb', NUMBER);
  if (!id) return undefined;
  return query({
    path: `/3/tv/${id}/season/${number}`,
    query: { language, append_to_response: 'images', include_image_language: `${codeOf(language)},en,null` },
    schema: Season,
  });
}

async function describe(query: Query, identity: Identity): Promise<Description | undefined> {
  if (identity.type === 'season' || identity.type === 'episode') return describePart(query, identity);
  const title = await titleOf(query, identity);
  if (!title) return undefined;
  const base = await pictureBase(query);
  const { posters = [], backdrops = [], logos = [] } = title.images ?? {};
  const series = title.belongs_to_collection;
  return {
    ...(series?.name && { partOf: { id: String(series.id), title: series.name } }),
    values: valuesOf(title, identity.country),
    pictures: [
      ...posters.flatMap((one) => pictureOf('poster', base, one)),
      ...backdrops.flatMap((one) => pictureOf(one.iso_639_1 ? 'thumb' : 'backdrop', base, one)),
      ...logos.flatMap((one) => pictureOf('logo', base, one)),
    ],
  };
}

async function describePart(query: Query, identity: Identity): Promise<Description | undefined> {
  const { type, index, parentIndex } = identity;
  const number = type === 'season' ? index : parentIndex;
  const season = number === undefined ? undefined : await seasonOf(query, identity, number);
  if (!season) return undefined;
  const base = await pictureBase(query);
  if (type === 'season') {
    const posters = season.images?.posters ?? [];
    return { values: seasonValues(season), pictures: posters.flatMap((one) => pictureOf('poster', base, one)) };
  }
  const episode = season.episodes.find((one) => one.episode_number === index);
  if (!episode) return undefined;
  const still = { file_path: episode.still_path } as Parameters<typeof pictureOf>[2];
  return { values: episodeValues(episode), pictures: pictureOf('still', base, still) };
}

async function artwork(query: Query, identity: Identity): Promise<RemotePicture[]> {
  return (await describe(query, identity))?.pictures ?? [];
}

async function children(query: Query, identity: Identity): Promise<KnownChild[]> {
  const show = await titleOf(query, identity);
  const all: KnownChild[] = [];
  for (const { season_number: number } of (show?.seasons ?? []).slice(0, MOST_SEASONS)) {
    const season = await seasonOf(query, identity, number);
    for (const episode of season?.episodes ?? [])
      all.push(
        known<KnownChild>({
          type: 'episode',
          title: episode.name ?? `${episode.episode_number}`,
          parentIndex: episode.season_number,
          index: episode.episode_number,
          releasedOn: calendarDay(episode.air_date),
          externalIds: { tmdb: String(episode.id) },
          overview: episode.overview,
        }),
      );
  }
  return all;
}

export const tmdb: Agent = {
  id: 'tmdb',
  name: 'The Movie Database',
  homepage: 'https://www.themoviedb.org/',
  provider: 'tmdb',
  itemTypes: ['movie', 'show', 'season', 'episode'],
  offers: ['identify', 'metadata', 'artwork', 'people', 'ratings', 'missing-children'],
  address: 'https://api.themoviedb.org',
  rate: { everyMs: 30, burst: 10 },
  // The longer kind of key is a token for the header.
  credentials: ({ 'tmdb.apiKey': key = '' }) =>
    key.length > 40 ? { headers: { authorization: `Bearer ${key}` } } : { query: { api_key: key } },
  ping: { path: '/3/configuration', schema: Configuration },
  identify,
  describe,
  artwork,
  children,
  person: (query, person) => personOf(query, person, () => pictureBase(query)),
};

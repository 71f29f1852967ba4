import { z } from 'zod';
import { list, number, text } from '../parts.ts';

export const Configuration = z.object({ images: z.object({ secure_base_url: z.url({ protocol: /^https?$/ }) }) });

const Result = z.object({
  id: z.int(),
  media_type: text(),
  title: text(),
  name: text(),
  original_title: text(),
  original_name: text(),
  overview: text(),
  release_date: text(),
  first_air_date: text(),
  poster_path: text(),
});
export type Result = z.output<typeof Result>;
export const Search = z.object({ results: list(Result) });
export const FoundBy = z.object({ movie_results: list(Result), tv_results: list(Result) });

const Named = z.object({ id: z.int().optional(), name: text() });
const Cast = z.object({
  id: z.int(),
  name: text(),
  character: text(),
  roles: list(z.object({ character: text() })),
  order: number(),
});
const Crew = z.object({
  id: z.int(),
  name: text(),
  job: text(),
  department: text(),
  jobs: list(z.object({ job: text() })),
});
export const Credits = z.object({ cast: list(Cast), crew: list(Crew), guest_stars: list(Cast) });
export type Credits = z.output<typeof Credits>;

const Picture = z.object({
  file_path: text(),
  width: number(),
  height: number(),
  iso_639_1: text(),
  vote_average: number(),
  vote_count: number(),
});
export type Picture = z.output<typeof Picture>;
export const Pictures = z.object({
  posters: list(Picture),
  backdrops: list(Picture),
  logos: list(Picture),
  stills: list(Picture),
});

const ExternalIds = z.object({ imdb_id: text(), tvdb_id: number(), wikidata_id: text() });

export const Person = z.object({
  id: z.int(),
  name: text(),
  also_known_as: list(z.string()),
  biography: text(),
  birthday: text(),
  deathday: text(),
  place_of_birth: text(),
  homepage: text(),
  imdb_id: text(),
  profile_path: text(),
  external_ids: ExternalIds.nullish(),
});
export type Person = z.output<typeof Person>;

/** A film or a show; each has some of the members. */
export const Title = z.object({
  id: z.int(),
  title: text(),
  name: text(),
  original_title: text(),
  original_name: text(),
  original_language: text(),
  overview: text(),
  tagline: text(),
  release_date: text(),
  first_air_date: text(),
  status: text(),
  vote_average: number(),
  vote_count: number(),
  imdb_id: text(),
  homepage: text(),
  genres: list(Named),
  production_companies: list(Named),
  networks: list(Named),
  belongs_to_collection: z.object({ id: z.int(), name: text() }).nullish(),
  created_by: list(Named),
  production_countries: list(z.object({ iso_3166_1: text() })),
  origin_country: list(z.string()),
  runtime: number(),
  number_of_seasons: number(),
  number_of_episodes: number(),
  seasons: list(z.object({ season_number: z.int(), name: text(), episode_count: number(), air_date: text() })),
  credits: Credits.nullish(),
  aggregate_credits: Credits.nullish(),
  images: Pictures.nullish(),
  external_ids: ExternalIds.nullish(),
  keywords: z.object({ keywords: list(Named), results: list(Named) }).nullish(),
  release_dates: z
    .object({
      results: list(
        z.object({ iso_3166_1: text(), release_dates: list(z.object({ certification: text(), type: number() })) }),
      ),
    })
    .nullish(),
  content_ratings: z.object({ results: list(z.object({ iso_3166_1: text(), rating: text() })) }).nullish(),
});
export type Title = z.output<typeof Title>;

const Episode = z.object({
  id: z.int(),
  name: text(),
  overview: text(),
  air_date: text(),
  episode_number: z.int(),
  season_number: z.int(),
  still_path: text(),
  vote_average: number(),
  vote_count: number(),
  crew: list(Crew),
  guest_stars: list(Cast),
});
export type Episode = z.output<typeof Episode>;
export const Season = z.object({
  id: z.int().optional(),
  name: text(),
  overview: text(),
  air_date: text(),
  season_number: z.int(),
  poster_path: text(),
  episodes: list(Episode),
  images: Pictures.nullish(),
  external_ids: ExternalIds.nullish(),
});
export type Season = z.output<typeof Season>;

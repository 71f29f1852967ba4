import { z } from 'zod';
import { list, number, text } from '../parts.ts';

export const Hit = z.object({
  tvdb_id: text(),
  name: text(),
  name_translated: text(),
  translations: z.record(z.string(), z.string()).nullish(),
  aliases: list(z.string()),
  year: text(),
  first_air_time: text(),
  overview: text(),
  thumbnail: text(),
  image_url: text(),
});
export const Search = z.object({ data: list(Hit) });
export const Matches = z.object({
  data: list(
    z.object({
      series: z.object({ id: z.int(), name: text(), year: text() }).nullish(),
      movie: z.object({ id: z.int(), name: text(), year: text() }).nullish(),
    }),
  ),
});
export const Picture = z.object({
  image: text(),
  thumbnail: text(),
  type: number(),
  width: number(),
  height: number(),
  language: text(),
  score: number(),
  seasonId: number(),
});
export type Picture = z.output<typeof Picture>;
const Named = z.object({ name: text() });
export const Entry = z.object({
  id: z.int(),
  name: text(),
  originalLanguage: text(),
  originalCountry: text(),
  firstAired: text(),
  first_release: z.object({ date: text() }).nullish(),
  year: text(),
  overview: text(),
  runtime: number(),
  averageRuntime: number(),
  status: z.object({ name: text() }).nullish(),
  genres: list(Named),
  originalNetwork: Named.nullish(),
  studios: list(Named),
  remoteIds: list(z.object({ id: text(), sourceName: text() })),
  contentRatings: list(z.object({ name: text(), country: text() })),
  characters: list(
    z.object({ name: text(), peopleId: number(), personName: text(), peopleType: text(), sort: number() }),
  ),
  artworks: list(Picture),
  seasons: list(z.object({ id: z.int(), number: z.int(), type: z.object({ type: text() }).nullish() })),
});
export type Entry = z.output<typeof Entry>;
export const Extended = z.object({ data: Entry });
export const Episode = z.object({
  id: z.int(),
  name: text(),
  overview: text(),
  aired: text(),
  seasonNumber: number(),
  number: number(),
  image: text(),
});
export type Episode = z.output<typeof Episode>;
export const Episodes = z.object({
  data: z.object({ episodes: list(Episode) }),
  links: z.object({ next: text() }).nullish(),
});
export const Translation = z.object({ data: z.object({ name: text(), overview: text(), tagline: text() }) });
export const Login = z.object({ data: z.object({ token: z.string().min(1).max(4000) }) });

// Titles of TMDB that are not in a library: releases by country, offers of streaming services, and searches.
import { z } from 'zod';
import { ageYears } from '../../age-ratings.ts';
import { calendarDay } from '../../calendar.ts';
import { serviceOfTmdb } from '../../streaming-services.ts';
import type { Query } from '../agent.ts';
import type { Days, ListedOffer, ListedPerson, ListedRelease, ListedTitle, Place, TitleKind } from '../listed-title.ts';
import { IMDB, idOf, known, list, NUMBER, names, number, text, yearOf } from '../parts.ts';
import { FoundBy, Title } from './schemas.ts';
import { idsOf, valuesOf } from './values.ts';

const MOST_PEOPLE = 20;
const MOST_OFFERS = 40;

const branchOf = (kind: TitleKind): 'movie' | 'tv' => (kind === 'movie' ? 'movie' : 'tv');

const Summary = z.object({
  id: z.int(),
  adult: z.boolean().nullish(),
  title: text(),
  name: text(),
  original_title: text(),
  original_name: text(),
  overview: text(),
  release_date: text(),
  first_air_date: text(),
  poster_path: text(),
  popularity: number(),
  vote_average: number(),
  vote_count: number(),
});
type Summary = z.output<typeof Summary>;
const Summaries = z.object({ results: list(Summary), total_pages: number() });

const Provider = z.object({ provider_id: z.int(), provider_name: z.string().min(1) });
const Offers = z.object({
  flatrate: list(Provider),
  free: list(Provider),
  ads: list(Provider),
  rent: list(Provider),
  buy: list(Provider),
});
const Providers = z.object({ results: z.record(z.string(), Offers).nullish() });
const Release = z.object({ certification: text(), release_date: text(), type: number() });

const Detailed = Title.extend({
  adult: z.boolean().nullish(),
  popularity: number(),
  poster_path: text(),
  release_dates: z.object({ results: list(z.object({ iso_3166_1: text(), release_dates: list(Release) })) }).nullish(),
  spoken_languages: list(z.object({ iso_639_1: text() })),
  videos: z
    .object({ results: list(z.object({ key: text(), site: text(), type: text(), iso_639_1: text() })) })
    .nullish(),
  'watch/providers': Providers.nullish(),
});
type Detailed = z.output<typeof Detailed>;

/** Numbers of titles with their popularity, the most popular first. */
export type Listed = { id: number; popularity: number }[];

/** Films with a release of one of the types in the country: 2 and 3 in cinemas, 4 digital, 5 on disc. */
export const filmsReleased = (
  query: Query,
  { country, language }: Place,
  { types, days, pages }: { types: readonly number[]; days: Days; pages: number },
): Promise<Listed> =>
  paged(
    query,
    { branch: 'movie', pages },
    {
      ...{ region: country, language, with_release_type: types.join('|') },
      ...{ 'release_date.gte': days.from, 'release_date.lte': days.to },
    },
  );

/** Titles that a streaming service of the country offers. */
export const titlesStreamed = (
  query: Query,
  { country, language }: Place,
  { kind, pages }: { kind: TitleKind; pages: number },
): Promise<Listed> =>
  paged(
    query,
    { branch: branchOf(kind), pages },
    {
      ...{ watch_region: country, language, with_watch_monetization_types: 'flatrate|free|ads|rent|buy' },
    },
  );

async function paged(
  query: Query,
  { branch, pages }: { branch: 'movie' | 'tv'; pages: number },
  members: Record<string, string>,
): Promise<Listed> {
  const all: Listed = [];
  for (let page = 1; page <= pages; page += 1) {
    const answer = await query({
      path: `/3/discover/${branch}`,
      query: { include_adult: 'false', sort_by: 'popularity.desc', ...members, page },
      schema: Summaries,
    });
    all.push(...(answer?.results ?? []).map(({ id, popularity = 0 }) => ({ id, popularity })));
    if (page >= (answer?.total_pages ?? 0)) break;
  }
  return all;
}

/** Titles of a search, without their other ids. */
export async function titlesFound(
  query: Query,
  { language }: Place,
  { q, kind, year }: { q: string; kind: TitleKind; year?: number | undefined },
): Promise<ListedTitle[]> {
  const dated = kind === 'movie' ? { year } : { first_air_date_year: year };
  const answer = await query({
    path: `/3/search/${branchOf(kind)}`,
    query: { query: q, include_adult: 'false', language, ...dated },
    schema: Summaries,
  });
  return (answer?.results ?? []).map((one) => summaryTitle(one, kind));
}

function summaryTitle(one: Summary, kind: TitleKind): ListedTitle {
  const released = calendarDay(one.release_date ?? one.first_air_date);
  return known<ListedTitle>({
    ...{ kind, ids: { tmdb: String(one.id) }, title: one.title ?? one.name ?? String(one.id) },
    ...{ originalTitle: one.original_title ?? one.original_name, year: yearOf(released), releasedOn: released },
    ...{ overview: one.overview, rating: ratingOf(one), popularity: one.popularity, poster: posterOf(one.poster_path) },
    adult: one.adult === true ? true : undefined,
  });
}

/** The number of a title by an id of another scheme. */
export async function tmdbIdOf(
  query: Query,
  kind: TitleKind,
  ids: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const own = idOf(ids, 'tmdb', NUMBER);
  if (own !== undefined) return own;
  const others = [
    ['imdb_id', idOf(ids, 'imdb', IMDB)],
    ['tvdb_id', kind === 'show' ? idOf(ids, 'tvdb', NUMBER) : undefined],
    ['wikidata_id', idOf(ids, 'wikidata', /^Q\d{1,12}$/)],
  ] as const;
  for (const [source, id] of others) {
    if (id === undefined) continue;
    const found = await query({ path: `/3/find/${id}`, query: { external_source: source }, schema: FoundBy });
    const [first] = (kind === 'movie' ? found?.movie_results : found?.tv_results) ?? [];
    if (first) return String(first.id);
  }
  return undefined;
}

/** Everything about a title in one request; undefined for one that TMDB does not have. */
export async function tmdbTitle(
  query: Query,
  { country, language }: Place,
  { kind, id }: { kind: TitleKind; id: string },
): Promise<ListedTitle | undefined> {
  const more = kind === 'movie' ? 'credits,release_dates' : 'aggregate_credits,content_ratings';
  const title = await query({
    path: `/3/${branchOf(kind)}/${id}`,
    query: { language, append_to_response: `${more},external_ids,videos,watch/providers` },
    schema: Detailed,
  });
  return title && detailedTitle(title, kind, country);
}

/** Present offers of a title. */
export async function tmdbOffers(
  query: Query,
  country: string,
  { kind, id }: { kind: TitleKind; id: string },
): Promise<ListedOffer[] | undefined> {
  const answer = await query({ path: `/3/${branchOf(kind)}/${id}/watch/providers`, schema: Providers });
  return answer && offersOf(answer.results?.[country], []);
}

function detailedTitle(title: Detailed, kind: TitleKind, country: string): ListedTitle {
  const values = valuesOf(title, country);
  const seasons = title.seasons.filter(({ season_number: at }) => at > 0);
  return known<ListedTitle>({
    ...{ kind, ids: idsOf(title), title: values.title ?? String(title.id), originalTitle: values.originalTitle },
    ...{ year: values.year, releasedOn: values.releasedOn, overview: values.overview, genres: values.genres },
    ...{ ageRating: ratingIn(title, country), rating: ratingOf(title), popularity: title.popularity },
    runtimeMs: title.runtime ? title.runtime * 60_000 : undefined,
    releases: releasesOf(title, country),
    offers: offersOf(
      title['watch/providers']?.results?.[country],
      seasons.map((one) => one.season_number),
    ),
    ...{ poster: posterOf(title.poster_path), adult: title.adult === true ? true : undefined },
    ...{ tagline: values.tagline, countries: values.countries, homepage: httpsOnly(title.homepage) },
    languages: names(title.spoken_languages.map((one) => one.iso_639_1)),
    seasons: seasons.map((one) =>
      known({
        ...{ number: one.season_number, title: one.name ?? `${one.season_number}` },
        ...{ episodeCount: one.episode_count ?? 0, releasedOn: calendarDay(one.air_date) },
      }),
    ),
    people: (values.people ?? [])
      .slice(0, MOST_PEOPLE)
      .map(({ name, role, ids }) => known<ListedPerson>({ name, role, ids })),
    trailers: trailersOf(title),
  });
}

/** The rating of the country, else the strictest of the others. */
function ratingIn({ release_dates: films, content_ratings: shows }: Detailed, country: string): string | undefined {
  const all = [
    ...(films?.results ?? []).flatMap(({ iso_3166_1: of, release_dates: dates }) =>
      dates.flatMap(({ certification }) => (certification ? [{ of, rating: certification }] : [])),
    ),
    ...(shows?.results ?? []).flatMap(({ iso_3166_1: of, rating }) => (rating ? [{ of, rating }] : [])),
  ];
  const own = all.find(({ of, rating }) => of === country && ageYears(rating) !== undefined);
  if (own) return own.rating;
  const others = all.flatMap(({ of, rating }) => {
    const years = ageYears(rating);
    return years === undefined ? [] : [{ text: `${of}:${rating}`, years }];
  });
  return others.sort((a, b) => b.years - a.years)[0]?.text;
}

const RELEASE_KINDS: Readonly<Record<number, ListedRelease['kind']>> = {
  ...{ 1: 'premiere', 2: 'cinema', 3: 'cinema', 4: 'digital', 5: 'disc', 6: 'tv' },
};

function releasesOf({ release_dates: films }: Detailed, country: string): ListedRelease[] {
  const own = films?.results.find(({ iso_3166_1: of }) => of === country)?.release_dates ?? [];
  return own.flatMap(({ release_date: date, type }) => {
    const [kind, day] = [RELEASE_KINDS[type ?? 0], calendarDay(date)];
    return kind && day ? [{ kind, day, country, certainty: 'confirmed' as const }] : [];
  });
}

const OFFER_KINDS = [
  ['flatrate', 'subscription'],
  ['free', 'free'],
  ['ads', 'ads'],
  ['rent', 'rent'],
  ['buy', 'buy'],
] as const;

function offersOf(offers: z.output<typeof Offers> | undefined, seasons: number[]): ListedOffer[] {
  const all = OFFER_KINDS.flatMap(([member, kind]) =>
    (offers?.[member] ?? []).map(({ provider_id: id, provider_name: name }): ListedOffer => {
      const service = serviceOfTmdb(id, name);
      const offer = { serviceId: service.id, serviceName: service.name, kind, certainty: 'confirmed' as const };
      return seasons.length > 0 ? { ...offer, seasons } : offer;
    }),
  );
  const once = new Map(all.map((offer) => [`${offer.serviceId} ${offer.kind}`, offer]));
  return [...once.values()].slice(0, MOST_OFFERS);
}

function ratingOf({ vote_average: average, vote_count: votes }: Pick<Summary, 'vote_average' | 'vote_count'>) {
  if (!average || !votes) return undefined;
  return { source: 'tmdb', value: Math.round(Math.min(10, average) * 10) / 10, votes };
}

/** Below the address of pictures, which the fetch of the picture reads. */
const posterOf = (path: string | undefined): string | undefined =>
  path !== undefined && /^\/[\w.-]{1,100}$/.test(path) && !path.endsWith('.svg') ? path : undefined;

const httpsOnly = (url: string | undefined): string | undefined =>
  url !== undefined && url.length <= 500 && url.startsWith('https://') && URL.canParse(url) ? url : undefined;

function trailersOf({ videos }: Detailed): NonNullable<ListedTitle['trailers']> {
  const sites: Record<string, string> = { YouTube: 'https://www.youtube.com/watch?v=', Vimeo: 'https://vimeo.com/' };
  return (videos?.results ?? []).slice(0, 50).flatMap(({ key, site, type, iso_639_1: language }) => {
    const address = type === 'Trailer' && site !== undefined ? sites[site] : undefined;
    if (address === undefined || site === undefined || key === undefined || !/^[\w-]{1,40}$/.test(key)) return [];
    return [known({ site, url: address + key, language })];
  });
}

const ServiceList = z.object({ results: list(Provider) });

/** The services that TMDB has offers of in a country. */
export async function tmdbServices(query: Query, country: string): Promise<{ id: string; name: string }[]> {
  const found = new Map<string, { id: string; name: string }>();
  for (const branch of ['movie', 'tv']) {
    const answer = await query({
      path: `/3/watch/providers/${branch}`,
      query: { watch_region: country },
      schema: ServiceList,
    });
    for (const { provider_id: number, provider_name: name } of answer?.results ?? []) {
      const { id, name: shown } = serviceOfTmdb(number, name);
      found.set(id, { id, name: shown });
    }
  }
  return [...found.values()];
}

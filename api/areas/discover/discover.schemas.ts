import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery, type SortTable, sortQuery } from '#kernel/page.ts';
import {
  Country as AnyCountry,
  commaList,
  Day,
  Id,
  ImageRef,
  Language,
  Milliseconds,
  queryBool,
  queryInt,
  Timestamp,
} from '#kernel/schemas.ts';
import { releaseKinds, serviceOfferKinds, titleKinds } from '#platform/agents/listed-title.ts';

const Country = AnyCountry.meta({ example: 'GB' });
const TitleKind = z.enum(titleKinds);
const offerKinds = ['here', 'recording', 'live-tv', ...serviceOfferKinds] as const;
const OfferKind = z.enum(offerKinds);
const Certainty = z
  .enum(['confirmed', 'listed'])
  .describe('listed: a catalogue lists it, and no provider of offers confirms it');
const ServiceId = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
  .max(60)
  .meta({ example: 'netflix' });

const TITLE_ID =
  /^(?:movie|show):(?:(?:tmdb|tvdb):[0-9]{1,12}|imdb:tt[0-9]{5,10}|wikidata:Q[0-9]{1,12}|spine:[A-Za-z]{2,40}\.[A-Za-z0-9_.-]{1,64}|item:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;
export const TitleId = z
  .string()
  .max(120)
  .regex(TITLE_ID, 'kind:scheme:value')
  .describe('`kind:scheme:value` with an id of tmdb, tvdb, imdb, wikidata or spine, or `kind:item:<item id>`')
  .meta({ example: 'movie:wikidata:Q42198' });

const TitleRelease = z
  .object({ kind: z.enum(releaseKinds), day: Day, country: Country, certainty: Certainty })
  .meta({ id: 'TitleRelease' });

export const TitleOffer = z
  .object({
    serviceId: ServiceId,
    serviceName: z.string().meta({ example: 'Netflix' }),
    logo: ImageRef.optional(),
    kind: OfferKind,
    mine: z.boolean().describe('One of your services'),
    url: z
      .string()
      .optional()
      .describe('https, on a host of the service')
      .meta({ example: 'https://www.netflix.com/title/60031236' }),
    itemId: Id.optional(),
    airing: z.object({ channelId: Id, startsAt: Timestamp }).optional(),
    certainty: Certainty,
    seasons: z.array(z.int()).optional().describe('Numbers of the seasons that it has'),
    checkedAt: Timestamp,
  })
  .meta({ id: 'TitleOffer' });
export type TitleOffer = z.output<typeof TitleOffer>;

export const DiscoverSource = z
  .object({
    source: z.string().describe('local, spine, wikidata or tmdb').meta({ example: 'tmdb' }),
    provides: z.array(z.enum(['lists', 'details', 'offers', 'search', 'artwork'])),
    state: z.enum(['ok', 'missing-key', 'disabled', 'unavailable', 'stale', 'not-covered']),
    keys: z.array(z.string().meta({ example: 'tmdb.apiKey' })).describe('Catalogue keys that would enable it'),
    asOf: Timestamp.optional(),
    nextAt: Timestamp.optional(),
  })
  .meta({ id: 'DiscoverSource' });
export type DiscoverSource = z.output<typeof DiscoverSource>;

const missingCodes = [
  ...(['lists', 'cinema-dates', 'disc-dates', 'streaming-offers', 'popularity', 'services-not-chosen'] as const),
  'search-results',
] as const;
export type Missing = (typeof missingCodes)[number];

const titleShape = {
  titleId: TitleId,
  kind: TitleKind,
  title: z.string().meta({ example: 'Heat' }),
  originalTitle: z.string().optional().meta({ example: 'Heat' }),
  year: z.int().optional(),
  releasedOn: Day.optional(),
  overview: z.string().optional().meta({ example: 'A thief and a detective in Los Angeles.' }),
  genres: z.array(z.string().meta({ example: 'Crime' })),
  ageRating: z.string().optional().meta({ example: '15' }),
  rating: z
    .object({ source: z.string().meta({ example: 'tmdb' }), value: z.number().min(0).max(10), votes: z.int() })
    .optional(),
  poster: ImageRef.optional(),
  runtimeMs: Milliseconds.optional(),
  here: z
    .object({ itemId: Id, libraryId: Id, watched: z.boolean() })
    .optional()
    .describe('On this server and visible to you'),
  releases: z.array(TitleRelease).describe('In the country, newest first'),
  offers: z.array(TitleOffer).max(6).describe('Own services first'),
  inWatchlist: z.boolean(),
  popularity: z.number().min(0).max(1).optional().describe('Within the list'),
};
export const DiscoverTitle = z.object(titleShape).meta({ id: 'DiscoverTitle' });
export type DiscoverTitle = z.output<typeof DiscoverTitle>;

export const TitleAvailability = z
  .object({
    country: Country,
    offers: z.array(TitleOffer),
    sources: z.array(DiscoverSource),
    attribution: z.array(z.string().meta({ example: 'Data of Wikidata is available under CC0.' })),
  })
  .meta({ id: 'TitleAvailability' });

export const DiscoverDetail = z
  .object({
    ...titleShape,
    tagline: z.string().optional().meta({ example: 'A Los Angeles crime saga' }),
    countries: z.array(z.string().meta({ example: 'US' })),
    languages: z.array(z.string().meta({ example: 'en' })),
    seasons: z
      .array(
        z.object({
          number: z.int(),
          title: z.string().meta({ example: 'Season 1' }),
          episodeCount: z.int().min(0),
          releasedOn: Day.optional(),
        }),
      )
      .optional(),
    people: z
      .array(
        z.object({
          name: z.string().meta({ example: 'Al Pacino' }),
          role: z.string().meta({ example: 'actor' }),
          personId: Id.optional(),
          portrait: ImageRef.optional(),
        }),
      )
      .max(20),
    trailers: z.array(
      z.object({
        site: z.string().meta({ example: 'YouTube' }),
        url: z.string().meta({ example: 'https://www.youtube.com/watch?v=abc123' }),
        language: z.string().optional().meta({ example: 'en' }),
      }),
    ),
    externalIds: z.record(z.string(), z.string()).meta({ example: { imdb: 'tt0113277' } }),
    availability: TitleAvailability,
    similarHere: z.array(ItemSummary).max(12).describe('Similar items on this server'),
    homepage: z.string().optional().meta({ example: 'https://films.example/heat' }),
  })
  .meta({ id: 'DiscoverDetail' });
export type DiscoverDetail = z.output<typeof DiscoverDetail>;

export const StreamingService = z
  .object({
    id: ServiceId,
    name: z.string().meta({ example: 'Netflix' }),
    logo: ImageRef.optional(),
    kinds: z.array(z.enum(serviceOfferKinds)),
    countries: z.array(Country).describe('Empty is most countries'),
    mine: z.boolean(),
    titleCount: z.int().min(0).optional().describe('Known titles in the country'),
  })
  .meta({ id: 'StreamingService' });
export type StreamingService = z.output<typeof StreamingService>;

export const StreamingServices = z.object({
  items: z.array(StreamingService),
  country: Country,
  sources: z.array(DiscoverSource),
});

/** Members of a DiscoverAnswer besides its page. */
export const answerMembers = {
  country: Country,
  asOf: Timestamp,
  sources: z.array(DiscoverSource),
  missing: z.array(z.enum(missingCodes)).describe('What could not be answered'),
  attribution: z
    .array(z.string().meta({ example: 'Data of Wikidata is available under CC0.' }))
    .describe('Texts that providers require next to their data'),
};

const country = Country.optional().describe("Default is your profile's country, else that of the server");
const plain = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    });
const genre = plain(1, 100).optional().meta({ example: 'Drama' });

const listSorts: SortTable = {
  popularity: { column: 'e.popularity', type: 'real', nullable: true },
  releasedOn: { column: 'e.listed_on', type: 'date', nullable: true },
  title: { column: 'e.sort_title', type: 'text' },
  rating: { column: 'e.rating', type: 'real', nullable: true },
};
export const cinemaSorts = listSorts;
export const discSorts = listSorts;
export const streamingSorts: SortTable = {
  newSince: { column: 'n.new_since', type: 'date', nullable: true },
  ...listSorts,
};

export const CinemasQuery = z.object({
  ...pageQuery,
  country,
  when: z.enum(['now', 'upcoming']).default('now'),
  genre,
  hideHere: queryBool.default(false),
  sort: sortQuery(cinemaSorts),
});
export const DiscsQuery = z.object({
  ...pageQuery,
  country,
  when: z.enum(['new', 'upcoming']).default('new'),
  genre,
  hideHere: queryBool.default(false),
  sort: sortQuery(discSorts),
});
export const StreamingQuery = z.object({
  ...pageQuery,
  country,
  kind: TitleKind.optional(),
  services: commaList(ServiceId, 50).optional().describe('Ids of services, or `mine`, which is the default'),
  offers: commaList(OfferKind, offerKinds.length).optional(),
  genre,
  since: Day.optional().describe('Offers that this server first saw on that day or later'),
  hideHere: queryBool.default(true),
  hideWatched: queryBool.default(true),
  sort: sortQuery(streamingSorts),
});
export type StreamingQuery = z.output<typeof StreamingQuery>;

export const SearchQuery = z.object({
  ...pageQuery,
  q: plain(2, 200).meta({ example: 'heat' }),
  kind: TitleKind.optional(),
  year: queryInt(1800, 2200).optional(),
  country,
  sort: sortQuery(['relevance']),
});
export type SearchQuery = z.output<typeof SearchQuery>;

export const TitleParams = z.object({ titleId: TitleId });
export const TitleQuery = z.object({ country, language: Language.optional() });
export const ServicesQuery = z.object({ country, q: plain(1, 100).optional() });

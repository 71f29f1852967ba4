import { z } from 'zod';
import { calendarDay } from '../../calendar.ts';
import type { ItemValues, NamedCredit } from '../../item-values.ts';
import type { Agent, Description, Found, Identity, KnownChild, Query, RemotePicture, Wanted } from '../agent.ts';
import { credits, IMDB, idOf, known, NUMBER, names, yearOf } from '../parts.ts';
import {
  type Entry,
  type Episode,
  Episodes,
  Extended,
  type Hit,
  Login,
  Matches,
  type Picture,
  Search,
  Translation,
} from './schemas.ts';

const MOST_FOUND = 20;
const MOST_PAGES = 40;
const DAY_SEC = 86_400;
/** A token lasts a month. */
const TOKEN_SEC = 28 * DAY_SEC;

/** ISO 639-2, as the catalogue names languages; English for others. */
const CODES: Readonly<Record<string, string>> = {
  ...{ en: 'eng', de: 'deu', fr: 'fra', es: 'spa', it: 'ita', pt: 'por', nl: 'nld', sv: 'swe', da: 'dan', nb: 'nor' },
  ...{ fi: 'fin', pl: 'pol', cs: 'ces', uk: 'ukr', ja: 'jpn', zh: 'zho', ko: 'kor', ru: 'rus', tr: 'tur', hu: 'hun' },
};
const codeOf = (language: string): string => CODES[language.split('-')[0] ?? 'en'] ?? 'eng';
const languageOf = (code: string | undefined): string | undefined =>
  Object.entries(CODES).find(([, three]) => three === code)?.[0];

const branchOf = (type: string): 'movies' | 'series' => (type === 'movie' ? 'movies' : 'series');

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const imdb = idOf(wanted.ids, 'imdb', IMDB);
  const own = idOf(wanted.ids, 'tvdb', NUMBER);
  if (own) {
    const record = await recordOf(query, wanted.type, own);
    return record ? [foundRecord(wanted.type, record)] : [];
  }
  if (imdb) {
    const answer = await query({ path: `/v4/search/remoteid/${imdb}`, schema: Matches });
    const hits = (answer?.data ?? []).flatMap((one) => (wanted.type === 'movie' ? one.movie : one.series) ?? []);
    if (hits.length > 0)
      return hits.map((hit) =>
        known<Found>({
          ids: { ...wanted.ids, tvdb: String(hit.id) },
          type: wanted.type,
          title: hit.name ?? '',
          year: yearOf(hit.year),
        }),
      );
  }
  const type = wanted.type === 'movie' ? 'movie' : 'series';
  const answer = await query({
    path: '/v4/search',
    query: { query: wanted.title.slice(0, 200), type, year: wanted.year, limit: MOST_FOUND },
    schema: Search,
  });
  return (answer?.data ?? []).flatMap((hit) => foundHit(wanted, hit) ?? []);
}

function foundHit(wanted: Wanted, hit: z.output<typeof Hit>): Found | undefined {
  if (!hit.tvdb_id) return undefined;
  const translated = hit.translations?.[codeOf(wanted.language)];
  return known<Found>({
    ids: { tvdb: hit.tvdb_id },
    type: wanted.type,
    title: translated ?? hit.name ?? '',
    aliases: names([hit.name, ...hit.aliases, ...Object.values(hit.translations ?? {})]),
    year: yearOf(hit.year ?? hit.first_air_time),
    releasedOn: calendarDay(hit.first_air_time),
    overview: hit.overview,
    poster: hit.thumbnail ?? hit.image_url,
  });
}

const foundRecord = (type: string, record: Entry): Found =>
  known<Found>({
    ids: idsOf(record),
    type,
    title: record.name ?? '',
    year: yearOf(record.year ?? record.firstAired),
    runtimeMs: record.runtime ? record.runtime * 60_000 : undefined,
  });

async function recordOf(query: Query, type: string, id: string): Promise<Entry | undefined> {
  const answer = await query({ path: `/v4/${branchOf(type)}/${id}/extended`, schema: Extended });
  return answer?.data;
}

const SOURCES: Readonly<Record<string, string>> = { IMDB: 'imdb', 'TheMovieDB.com': 'tmdb', Wikidata: 'wikidata' };

function idsOf({ id, remoteIds }: Entry): Record<string, string> {
  const others = remoteIds.flatMap(({ id: of, sourceName }) => {
    const provider = SOURCES[sourceName ?? ''];
    return provider && of ? [[provider, of] as const] : [];
  });
  return { tvdb: String(id), ...Object.fromEntries(others) };
}

async function describe(query: Query, identity: Identity): Promise<Description | undefined> {
  const { type, ids } = identity;
  const id = idOf(ids, 'tvdb', NUMBER);
  if (!id) return undefined;
  if (type === 'episode') return describeEpisode(query, identity);
  const record = await recordOf(query, type === 'season' ? 'show' : type, id);
  if (!record) return undefined;
  if (type === 'season') return { values: {}, pictures: seasonPictures(record, identity.index) };
  return {
    values: { ...valuesOf(record, identity), ...(await textsOf(query, record, identity)) },
    pictures: record.artworks.flatMap((one) => pictureOf(KINDS[one.type ?? 0], one)),
  };
}

/** Title and overview in the language, else in that of the record. */
async function textsOf(query: Query, record: Entry, { type, language }: Identity): Promise<ItemValues> {
  const path = `/v4/${branchOf(type)}/${record.id}/translations/${codeOf(language)}`;
  const { name, overview, tagline } = (await query({ path, schema: Translation }))?.data ?? {};
  return known<ItemValues>({ title: name ?? record.name, overview: overview ?? record.overview, tagline });
}

const STATUS: Readonly<Record<string, NonNullable<ItemValues['status']>>> = {
  Ended: 'ended',
  Continuing: 'continuing',
  Upcoming: 'upcoming',
};

const ROLES: Readonly<Record<string, string>> = {
  Actor: 'actor',
  Director: 'director',
  Writer: 'writer',
  Producer: 'producer',
  Creator: 'creator',
  'Guest Star': 'guest',
  Host: 'presenter',
};

function valuesOf(record: Entry, { country }: Identity): ItemValues {
  const released = record.firstAired ?? record.first_release?.date;
  const code = country?.toLowerCase();
  const people = [...record.characters]
    .sort((a, b) => (a.sort ?? 0) - (b.sort ?? 0))
    .flatMap(({ name, peopleId, personName, peopleType }): NamedCredit[] => {
      const role = ROLES[peopleType ?? ''];
      if (!role || !personName) return [];
      return [
        {
          role,
          name: personName,
          ...(name && { character: name }),
          ...(peopleId !== undefined && { ids: { tvdb: String(peopleId) } }),
        },
      ];
    });
  return known<ItemValues>({
    year: yearOf(record.year ?? released),
    releasedOn: calendarDay(released),
    status: STATUS[record.status?.name ?? ''],
    ageRating: record.contentRatings.find((one) => code && one.country?.startsWith(code))?.name,
    genres: names(record.genres.map(({ name }) => name)),
    studios: names([record.originalNetwork?.name, ...record.studios.map(({ name }) => name)]),
    originalLanguage: languageOf(record.originalLanguage),
    people: credits(people),
    externalIds: idsOf(record),
  });
}

/** Kinds of pictures by their number in the catalogue. */
const KINDS: Readonly<Record<number, RemotePicture['kind']>> = {
  ...{ 1: 'banner', 2: 'poster', 3: 'backdrop', 7: 'poster', 11: 'still', 14: 'poster', 15: 'backdrop', 16: 'banner' },
  ...{ 22: 'clearart', 23: 'logo', 24: 'clearart', 25: 'logo' },
};

function pictureOf(kind: RemotePicture['kind'] | undefined, picture: Picture): RemotePicture[] {
  const { image, thumbnail, width, height, language } = picture;
  if (!kind || !image?.startsWith('http')) return [];
  return [
    known<RemotePicture>({
      ...{ kind, url: image, previewUrl: thumbnail, width, height },
      language: languageOf(language),
    }),
  ];
}

function seasonPictures({ seasons, artworks }: Entry, wanted: number | undefined): RemotePicture[] {
  const season = seasons.find((one) => one.number === wanted && (one.type?.type ?? 'official') === 'official');
  if (!season) return [];
  return artworks
    .filter((one) => one.seasonId === season.id && one.type === 7)
    .flatMap((one) => pictureOf('poster', one));
}

/** All episodes in the order of their broadcast, page by page. */
async function episodesOf(query: Query, { ids, language }: Pick<Identity, 'ids' | 'language'>): Promise<Episode[]> {
  const id = idOf(ids, 'tvdb', NUMBER);
  const all: Episode[] = [];
  for (let page = 0; id && page < MOST_PAGES; page += 1) {
    const path = `/v4/series/${id}/episodes/official/${codeOf(language)}`;
    const answer = await query({ path, query: { page }, schema: Episodes });
    all.push(...(answer?.data.episodes ?? []));
    if (!answer?.links?.next) break;
  }
  return all;
}

async function describeEpisode(query: Query, identity: Identity): Promise<Description | undefined> {
  const all = await episodesOf(query, identity);
  const episode = all.find((one) => one.seasonNumber === identity.parentIndex && one.number === identity.index);
  if (!episode) return undefined;
  const still = episode.image?.startsWith('http') ? episode.image : undefined;
  return {
    values: known<ItemValues>({
      title: episode.name,
      overview: episode.overview,
      year: yearOf(episode.aired),
      releasedOn: calendarDay(episode.aired),
      externalIds: { tvdb: String(episode.id) },
    }),
    pictures: still ? [{ kind: 'still', url: still }] : [],
  };
}

async function children(query: Query, identity: Identity): Promise<KnownChild[]> {
  const all = await episodesOf(query, identity);
  return all.map((episode) =>
    known<KnownChild>({
      type: 'episode',
      title: episode.name ?? `${episode.number ?? ''}`,
      parentIndex: episode.seasonNumber,
      index: episode.number,
      releasedOn: calendarDay(episode.aired),
      externalIds: { tvdb: String(episode.id) },
      overview: episode.overview,
    }),
  );
}

export const tvdb: Agent = {
  id: 'tvdb',
  name: 'TheTVDB',
  homepage: 'https://thetvdb.com/',
  provider: 'tvdb',
  itemTypes: ['movie', 'show', 'season', 'episode'],
  offers: ['identify', 'metadata', 'artwork', 'people', 'missing-children'],
  address: 'https://api4.thetvdb.com',
  rate: { everyMs: 100, burst: 5 },
  credentials: (_keys, token = '') => ({ headers: { authorization: `Bearer ${token}` } }),
  token: {
    path: '/v4/login',
    request: ({ 'tvdb.apiKey': apikey, 'tvdb.pin': pin }) => ({ body: { apikey, ...(pin !== undefined && { pin }) } }),
    read: (answer) => {
      const login = Login.safeParse(answer).data;
      return login && { token: login.data.token, lastsSec: TOKEN_SEC };
    },
  },
  ping: { path: '/v4/artwork/types', schema: z.looseObject({}) },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
  children,
};

import { z } from 'zod';
import type { ItemValues } from '../item-values.ts';
import type { Agent, Description, Found, Identity, Query, RemotePicture, Wanted } from './agent.ts';
import { idOf, known, list, NUMBER, names, number, text } from './parts.ts';

const MOST_FOUND = 20;
const PICTURES = 'https://images.igdb.com/igdb/image/upload';

const Named = z.object({ name: text() });
const Image = z.object({ image_id: text(), width: number(), height: number() });
const Game = z.object({
  id: z.int(),
  name: text(),
  slug: text(),
  summary: text(),
  storyline: text(),
  first_release_date: number(),
  total_rating: number(),
  total_rating_count: number(),
  alternative_names: list(Named),
  cover: Image.nullish(),
  artworks: list(Image),
  screenshots: list(Image),
  genres: list(Named),
  themes: list(Named),
  platforms: list(Named),
  involved_companies: list(
    z.object({ company: Named.nullish(), developer: z.boolean().nullish(), publisher: z.boolean().nullish() }),
  ),
});
type Game = z.output<typeof Game>;
const Games = z.array(Game);
const Token = z.object({ access_token: z.string().min(1).max(4000), expires_in: z.number() });

const SHORT = 'name,slug,summary,first_release_date,alternative_names.name,cover.image_id,platforms.name';
const FULL = `${SHORT},storyline,total_rating,total_rating_count,cover.width,cover.height,artworks.*,screenshots.*,genres.name,themes.name,involved_companies.company.name,involved_companies.developer,involved_companies.publisher`;

/** A text of the query language, in quotes. */
const quoted = (value: string): string => `"${value.slice(0, 200).replace(/["\\;]/g, ' ')}"`;

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const id = idOf(wanted.ids, 'igdb', NUMBER);
  const body = id
    ? `fields ${SHORT}; where id = ${id};`
    : `search ${quoted(wanted.title)}; fields ${SHORT}; limit ${MOST_FOUND};`;
  const games = await query({ path: '/v4/games', method: 'POST', body, schema: Games });
  return (games ?? []).map(foundOf);
}

const dayOf = (seconds: number | undefined): string | undefined =>
  seconds === undefined || !(Math.abs(seconds) < 1e10)
    ? undefined
    : new Date(seconds * 1000).toISOString().slice(0, 10);

const foundOf = (game: Game): Found =>
  known<Found>({
    ids: { igdb: String(game.id) },
    type: 'game',
    title: game.name ?? '',
    aliases: names(game.alternative_names.map(({ name }) => name)),
    by: names(game.platforms.map(({ name }) => name)),
    year: yearFrom(game.first_release_date),
    releasedOn: dayOf(game.first_release_date),
    overview: game.summary,
    poster: game.cover?.image_id && pictureUrl(game.cover.image_id, 't_cover_big'),
  });

const yearFrom = (seconds: number | undefined): number | undefined => {
  const day = dayOf(seconds);
  return day === undefined ? undefined : Number(day.slice(0, 4));
};

const pictureUrl = (id: string, size: string): string => `${PICTURES}/${size}/${encodeURIComponent(id)}.jpg`;

async function describe(query: Query, { ids }: Identity): Promise<Description | undefined> {
  const id = idOf(ids, 'igdb', NUMBER);
  if (!id) return undefined;
  const body = `fields ${FULL}; where id = ${id};`;
  const [game] = (await query({ path: '/v4/games', method: 'POST', body, schema: Games })) ?? [];
  return game && { values: valuesOf(game), pictures: picturesOf(game) };
}

function valuesOf(game: Game): ItemValues {
  const companies = (role: 'developer' | 'publisher'): string[] =>
    names(game.involved_companies.filter((one) => one[role]).map(({ company }) => company?.name));
  const rated = (game.total_rating_count ?? 0) >= 3 ? game.total_rating : undefined;
  return known<ItemValues>({
    title: game.name,
    overview: game.summary ?? game.storyline,
    year: yearFrom(game.first_release_date),
    releasedOn: dayOf(game.first_release_date),
    rating: rated === undefined ? undefined : Math.round(rated) / 10,
    genres: names(game.genres.map(({ name }) => name)),
    tags: names(game.themes.map(({ name }) => name)),
    studios: companies('developer'),
    publisher: companies('publisher')[0],
    externalIds: { igdb: String(game.id) },
  });
}

function picturesOf({ cover, artworks, screenshots }: Game): RemotePicture[] {
  const of = (kind: RemotePicture['kind'], size: string, image: z.output<typeof Image>): RemotePicture[] => {
    if (!image.image_id) return [];
    const url = pictureUrl(image.image_id, size);
    return [
      known<RemotePicture>({
        kind,
        url,
        previewUrl: pictureUrl(image.image_id, 't_cover_big'),
        width: image.width,
        height: image.height,
      }),
    ];
  };
  return [
    ...(cover ? of('poster', 't_original', cover) : []),
    ...artworks.flatMap((one) => of('backdrop', 't_original', one)),
    ...screenshots.flatMap((one) => of('thumb', 't_original', one)),
  ];
}

export const igdb: Agent = {
  id: 'igdb',
  name: 'IGDB',
  homepage: 'https://www.igdb.com/',
  provider: 'igdb',
  itemTypes: ['game'],
  offers: ['identify', 'metadata', 'artwork', 'ratings'],
  address: 'https://api.igdb.com',
  rate: { everyMs: 250, burst: 1 },
  credentials: ({ 'igdb.clientId': id = '' }, token = '') => ({
    headers: { 'client-id': id, authorization: `Bearer ${token}` },
  }),
  token: {
    path: '/oauth2/token',
    address: 'https://id.twitch.tv',
    request: ({ 'igdb.clientId': id = '', 'igdb.clientSecret': secret = '' }) => ({
      query: { client_id: id, client_secret: secret, grant_type: 'client_credentials' },
    }),
    read: (answer) => {
      const token = Token.safeParse(answer).data;
      return token && { token: token.access_token, lastsSec: token.expires_in };
    },
  },
  ping: { path: '/v4/games', method: 'POST', body: 'fields id; limit 1;', schema: z.array(z.object({ id: z.int() })) },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
};

import { z } from 'zod';
import type { Agent, Identity, Query, RemotePicture } from './agent.ts';
import { IMDB, idOf, known, list, NUMBER, text, UUID } from './parts.ts';

const MOST = 30;

const Picture = z.object({
  id: text(),
  url: z.url({ protocol: /^https?$/ }),
  lang: text(),
  likes: text(),
  season: text(),
});
type Picture = z.output<typeof Picture>;
const Pictures = list(Picture);
const Title = z.object({
  name: text(),
  movieposter: Pictures,
  moviebackground: Pictures,
  moviethumb: Pictures,
  moviebanner: Pictures,
  hdmovielogo: Pictures,
  hdmovieclearart: Pictures,
  moviedisc: Pictures,
  tvposter: Pictures,
  showbackground: Pictures,
  tvthumb: Pictures,
  tvbanner: Pictures,
  hdtvlogo: Pictures,
  hdclearart: Pictures,
  seasonposter: Pictures,
  artistthumb: Pictures,
  artistbackground: Pictures,
  hdmusiclogo: Pictures,
  musicbanner: Pictures,
  albums: z.record(z.string(), z.object({ albumcover: Pictures, cdart: Pictures })).nullish(),
});
type Title = z.output<typeof Title>;

type Kind = RemotePicture['kind'];
const KINDS: Readonly<Record<string, readonly (readonly [Kind, readonly (keyof Title)[]])[]>> = {
  movie: [
    ['poster', ['movieposter']],
    ['backdrop', ['moviebackground']],
    ['thumb', ['moviethumb']],
    ['banner', ['moviebanner']],
    ['logo', ['hdmovielogo']],
    ['clearart', ['hdmovieclearart']],
    ['disc', ['moviedisc']],
  ],
  show: [
    ['poster', ['tvposter']],
    ['backdrop', ['showbackground']],
    ['thumb', ['tvthumb']],
    ['banner', ['tvbanner']],
    ['logo', ['hdtvlogo']],
    ['clearart', ['hdclearart']],
  ],
  artist: [
    ['poster', ['artistthumb']],
    ['backdrop', ['artistbackground']],
    ['logo', ['hdmusiclogo']],
    ['banner', ['musicbanner']],
  ],
};

/** The languages `00` and none stand for a picture without text. */
const pictureOf = (kind: Kind, { url, lang, likes }: Picture): RemotePicture =>
  known<RemotePicture>({
    kind,
    url,
    previewUrl: url.replace('/fanart/', '/preview/'),
    language: lang === '00' || lang === undefined ? undefined : lang,
    votes: likes === undefined || !NUMBER.test(likes) ? undefined : Number(likes),
  });

async function artwork(query: Query, identity: Identity): Promise<RemotePicture[]> {
  const path = pathOf(identity);
  const title = path === undefined ? undefined : await query({ path, schema: Title });
  if (!title) return [];
  if (identity.type === 'season') return seasonPictures(title, identity);
  if (identity.type === 'album') return albumPictures(title, identity);
  return (KINDS[identity.type] ?? []).flatMap(([kind, members]) =>
    members.flatMap((member) => (title[member] as Picture[]).slice(0, MOST).map((one) => pictureOf(kind, one))),
  );
}

const seasonPictures = (title: Title, { index }: Identity): RemotePicture[] =>
  title.seasonposter
    .filter(({ season }) => season === String(index))
    .slice(0, MOST)
    .map((one) => pictureOf('poster', one));

function albumPictures({ albums }: Title, { ids }: Identity): RemotePicture[] {
  const album = albums?.[ids['musicbrainzReleaseGroup'] ?? ''];
  if (!album) return [];
  const all = [
    ...album.albumcover.map((one) => pictureOf('poster', one)),
    ...album.cdart.map((one) => pictureOf('disc', one)),
  ];
  return all.slice(0, MOST);
}

/** The path of an item by the id that the catalogue has it under. */
const PATHS: Readonly<Record<string, (ids: Identity['ids']) => string | undefined>> = {
  movie: (ids) => below('/v3/movies/', idOf(ids, 'tmdb', NUMBER) ?? idOf(ids, 'imdb', IMDB)),
  show: (ids) => below('/v3/tv/', idOf(ids, 'tvdb', NUMBER)),
  season: (ids) => below('/v3/tv/', idOf(ids, 'tvdb', NUMBER)),
  artist: (ids) => below('/v3/music/', idOf(ids, 'musicbrainz', UUID)),
  album: (ids) => below('/v3/music/albums/', idOf(ids, 'musicbrainzReleaseGroup', UUID)),
};

const below = (path: string, id: string | undefined): string | undefined => (id === undefined ? id : path + id);
const pathOf = ({ type, ids }: Identity): string | undefined => PATHS[type]?.(ids);

export const fanart: Agent = {
  id: 'fanart',
  name: 'Fanart.tv',
  homepage: 'https://fanart.tv/',
  itemTypes: ['movie', 'show', 'season', 'artist', 'album'],
  offers: ['artwork'],
  address: 'https://webservice.fanart.tv',
  rate: { everyMs: 250, burst: 4 },
  credentials: ({ 'fanart.apiKey': key = '', 'fanart.clientKey': personal }) => ({
    headers: { 'api-key': key, ...(personal !== undefined && { 'client-key': personal }) },
  }),
  ping: { path: '/v3/movies/550', schema: Title },
  artwork,
};

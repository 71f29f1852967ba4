import { z } from 'zod';
import type { Agent, Identity, Query, RemotePicture } from './agent.ts';
import { idOf, known, list, NUMBER, text, UUID } from './parts.ts';

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
  const title = path && (await query({ path, schema: Title }));
  if (!title) return [];
  const { type, ids, index } = identity;
  if (type === 'season')
    return title.seasonposter
      .filter(({ season }) => season === String(index))
      .slice(0, MOST)
      .map((one) => pictureOf('poster', one));
  if (type === 'album') {
    const album = title.albums?.[ids['musicbrainzReleaseGroup'] ?? ''];
    return [
      ...(album?.albumcover ?? []).map((one) => pictureOf('poster', one)),
      ...(album?.cdart ?? []).map((one) => pictureOf('disc', one)),
    ].slice(0, MOST);
  }
  return (KINDS[type] ?? []).flatMap(([kind, members]) =>
    members.flatMap((member) => (title[member] as Picture[]).slice(0, MOST).map((one) => pictureOf(kind, one))),
  );
}

function pathOf({ type, ids }: Identity): string | undefined {
  const film = idOf(ids, 'tmdb', NUMBER) ?? idOf(ids, 'imdb', /^tt\d{5,10}$/);
  const show = idOf(ids, 'tvdb', NUMBER);
  const artist = idOf(ids, 'musicbrainz', UUID);
  const group = idOf(ids, 'musicbrainzReleaseGroup', UUID);
  if (type === 'movie') return film && `/v3/movies/${film}`;
  if (type === 'show' || type === 'season') return show && `/v3/tv/${show}`;
  if (type === 'artist') return artist && `/v3/music/${artist}`;
  return type === 'album' ? group && `/v3/music/albums/${group}` : undefined;
}

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

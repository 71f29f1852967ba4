// MusicBrainz, web service 2, with the Cover Art Archive, in the shapes that they answer.
import { Catalogue, type Reply, type Requested } from './catalogue.ts';

const ARTIST = 'a74b1b7f-71a5-4011-9441-d0b5e4122711';
const GROUP = 'b1392450-e666-3926-a536-22c65f834433';
export const OK_COMPUTER = 'e8f70201-8899-3f0c-9e07-5d6495bc8046';
const SECOND = 'd5e64dc2-aa4c-4e0b-9a31-7b0b3f5c1f2b';

const credit = [
  {
    joinphrase: '',
    name: 'Radiohead',
    artist: { id: ARTIST, name: 'Radiohead', 'sort-name': 'Radiohead', disambiguation: '', type: 'Group' },
  },
];
const genres = [
  { id: 'ceeaa283-5d7b-4202-8d1d-e25d116b2a18', name: 'alternative rock', disambiguation: '', count: 22 },
  { id: 'b7ef058e-6d83-4ca4-8123-9724bff4648b', name: 'art rock', disambiguation: '', count: 30 },
];

const group = {
  id: GROUP,
  title: 'OK Computer',
  'primary-type': 'Album',
  'primary-type-id': 'f529b476-6e62-324f-b0aa-1f3e33d313fc',
  'secondary-types': [],
  'first-release-date': '1997-05-21',
  disambiguation: '',
};
const release = (id: string, date: string) => ({
  id,
  title: 'OK Computer',
  date,
  country: 'GB',
  status: 'Official',
  barcode: '724385522925',
  'artist-credit': credit,
  'release-group': group,
});
const releases = [release(OK_COMPUTER, '1997-06-16'), release(SECOND, '2008-08-20')];

function answer({ path, query }: Requested): Reply | undefined {
  if (query.get('fmt') !== 'json') return { status: 406, body: '' };
  const terms = query.get('query') ?? '';
  const [, entity, id] = /^\/ws\/2\/([a-z-]+)(?:\/([\w-]+))?\/?$/.exec(path) ?? [];
  if (entity === 'genre') return { body: { 'genre-count': 2000, 'genre-offset': 0, genres } };
  if (id === undefined) return searched(entity ?? '', terms, query);
  if (entity === 'artist' && id === ARTIST) return { body: artist };
  if (entity === 'release-group' && id === GROUP)
    return {
      body: {
        ...group,
        'artist-credit': credit,
        genres,
        rating: { value: 4.65, 'votes-count': 52 },
        relations: [
          {
            type: 'wikidata',
            direction: 'forward',
            url: { id: 'x', resource: 'https://www.wikidata.org/wiki/Q202996' },
          },
        ],
      },
    };
  const found = releases.find((one) => one.id === id);
  if (entity !== 'release' || !found) return undefined;
  const media = [{ format: 'CD', position: 1, 'track-count': 12, 'track-offset': 0, title: '' }];
  const labels = [{ 'catalog-number': 'CDNODATA 02', label: { id: 'l', name: 'Parlophone' } }];
  return { body: { ...found, media, 'label-info': labels, genres: [] } };
}

const artist = {
  id: ARTIST,
  name: 'Radiohead',
  'sort-name': 'Radiohead',
  type: 'Group',
  country: 'GB',
  disambiguation: '',
  'life-span': { begin: '1991', end: null, ended: false },
  aliases: [{ name: 'On a Friday', 'sort-name': 'On a Friday', type: null, primary: null, locale: null }],
  genres,
  relations: [{ type: 'wikidata', url: { id: 'y', resource: 'https://www.wikidata.org/wiki/Q44190' } }],
};

function searched(entity: string, terms: string, query: URLSearchParams): Reply | undefined {
  const low = terms.toLowerCase();
  const counts = { created: '2026-11-23T10:00:00.000Z', offset: 0 };
  if (entity === 'artist') {
    const hits = low.includes('radiohead') ? [{ ...artist, score: 100 }] : [];
    return { body: { ...counts, count: hits.length, artists: hits } };
  }
  if (entity === 'release') {
    const hits = low.includes('ok computer') ? releases.map((one) => ({ ...one, score: 100, 'track-count': 12 })) : [];
    return { body: { ...counts, count: hits.length, releases: hits } };
  }
  if (entity === 'release-group' && query.get('artist') === ARTIST)
    return { body: { 'release-group-count': 1, 'release-group-offset': 0, 'release-groups': [group] } };
  return undefined;
}

const MISSING: Reply = {
  status: 404,
  body: { error: 'Not Found', help: 'For usage, please see: https://musicbrainz.org/development/mmd' },
};

/** MusicBrainz, and the archive at another path of the same server. */
export async function startMusicBrainz({ pictures = 'http://coverartarchive.org' } = {}): Promise<Catalogue> {
  return Catalogue.start((request) => {
    const [, kind, id] = /^\/(release|release-group)\/([\w-]+)$/.exec(request.path) ?? [];
    if (kind === undefined) return answer(request);
    if (id !== OK_COMPUTER && id !== GROUP) return undefined;
    const image = `${pictures}/release/${OK_COMPUTER}/1.jpg`;
    const thumbnails = { 250: `${pictures}/1-250.jpg`, 500: `${pictures}/1-500.jpg`, small: `${pictures}/1-250.jpg` };
    const front = { approved: true, back: false, comment: '', edit: 1, front: true, id: 1, image, thumbnails };
    return {
      body: {
        images: [
          { ...front, types: ['Front'] },
          { ...front, front: false, types: ['Medium'], image: `${pictures}/2.jpg` },
        ],
        release: `https://musicbrainz.org/release/${OK_COMPUTER}`,
      },
    };
  }, MISSING);
}

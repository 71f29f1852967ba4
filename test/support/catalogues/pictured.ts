// AniList with faults in GraphQL answers, Comic Vine with faults of status 200, and Fanart.tv, which has pictures alone.
import { Catalogue } from './catalogue.ts';

/** Members of AniList's types that a query may name. */
const FIELDS = new Set(
  `query Page media Media id idMal type format status title romaji english native synonyms startDate year month day episodes volumes
  duration description coverImage extraLarge large medium averageScore countryOfOrigin isAdult genres tags name isMediaSpoiler bannerImage
  studios nodes isAnimationStudio staff edges role node full characters voiceActors`
    .split(/\s+/)
    .filter(Boolean),
);

const frieren = {
  id: 154587,
  idMal: 52991,
  type: 'ANIME',
  format: 'TV',
  status: 'FINISHED',
  title: { romaji: 'Sousou no Frieren', english: 'Frieren: Beyond Journey’s End', native: '葬送のフリーレン' },
  synonyms: ['Frieren at the Funeral'],
  startDate: { year: 2023, month: 9, day: 29 },
  episodes: 28,
  volumes: null,
  duration: 24,
  description: 'The adventure is over.<br>Life goes on for <i>elves</i> &amp; others.',
  coverImage: { extraLarge: 'https://s4.anilist.co/x.jpg', large: 'https://s4.anilist.co/l.jpg', medium: null },
  averageScore: 91,
  countryOfOrigin: 'JP',
  isAdult: false,
  genres: ['Adventure', 'Drama'],
  tags: [
    { name: 'Elf', isMediaSpoiler: false },
    { name: 'An Ending', isMediaSpoiler: true },
  ],
  bannerImage: 'https://s4.anilist.co/banner.jpg',
  studios: {
    nodes: [
      { name: 'MADHOUSE', isAnimationStudio: true },
      { name: 'Aniplex', isAnimationStudio: false },
    ],
  },
  staff: { edges: [{ role: 'Director', node: { id: 1, name: { full: 'Keiichirou Saitou' } } }] },
  characters: {
    edges: [{ node: { name: { full: 'Frieren' } }, voiceActors: [{ id: 2, name: { full: 'Atsumi Tanezaki' } }] }],
  },
};

/** AniList: one address, queries of GraphQL. */
export async function startAnilist() {
  return Catalogue.start(({ method, path, body }) => {
    const fault = (status: number, message: string) => ({
      status,
      body: { errors: [{ message, status }], data: null },
    });
    if (method !== 'POST' || path !== '/') return fault(405, 'Method not allowed');
    const { query = '', variables = {} } = JSON.parse(body) as { query?: string; variables?: Record<string, unknown> };
    // without arguments, which are in round brackets
    const unknown = query
      .replaceAll(/\([^()]*\)/g, ' ')
      .split(/[^A-Za-z]+/)
      .filter((word) => word && !FIELDS.has(word));
    if (unknown.length > 0) return fault(400, `Cannot query field "${unknown[0]}" on type "Media".`);
    if (/\bPage\b/.test(query)) {
      const isHere = /frieren/i.test(String(variables['search'])) && variables['type'] === 'ANIME';
      return { body: { data: { Page: { media: isHere ? [frieren] : [] } } } };
    }
    if (variables['id'] === 154587 || !('id' in variables)) return { body: { data: { Media: frieren } } };
    return { status: 404, body: { errors: [{ message: 'Not Found.', status: 404 }], data: { Media: null } } };
  });
}

export const comicvineKey = 'comic vine key';
const ISSUES = 130;

/** Comic Vine: whatever happened, the status is 200. */
export async function startComicvine() {
  const image = {
    original_url: 'https://comicvine.gamespot.com/a/o/1.jpg',
    small_url: 'https://comicvine.gamespot.com/a/s/1.jpg',
  };
  const volume = {
    ...{ id: 46568, name: 'Saga', aliases: 'Saga (2012)\nSagan', start_year: '2012', count_of_issues: ISSUES, image },
    ...{
      deck: null,
      description: '<p>Two soldiers of <em>opposite</em> sides.</p>',
      publisher: { id: 513, name: 'Image' },
    },
  };
  const issue = (n: number) => ({
    ...{ id: 300_000 + n, name: n === 12 ? 'Chapter Twelve' : null, issue_number: String(n), image, deck: null },
    ...{ cover_date: '2013-04-30', store_date: n === 12 ? '2013-04-10' : null, description: `<p>Issue ${n}.</p>` },
  });
  const answer = (results: unknown, total = 1) => ({
    body: {
      error: 'OK',
      limit: 100,
      offset: 0,
      number_of_page_results: 1,
      number_of_total_results: total,
      status_code: 1,
      results,
    },
  });
  const fault = (code: number, error: string) => ({ body: { error, status_code: code, results: [] } });
  const state = { limited: false };
  const catalogue = await Catalogue.start(({ path, query, headers }) => {
    if (!headers['user-agent']) return { status: 403, body: 'Forbidden' };
    if (state.limited) return { status: 420, body: fault(107, 'Rate limit exceeded. Slow down cowboy.').body };
    if (query.get('api_key') !== comicvineKey) return fault(100, 'Invalid API Key');
    if (query.get('format') !== 'json') return { headers: { 'content-type': 'text/xml' }, body: '<response/>' };
    if (path === '/api/types/') return answer([]);
    if (path === '/api/search/') return answer(/saga/i.test(query.get('query') ?? '') ? [volume] : [], 1);
    if (path === '/api/volume/4050-46568/') return answer(volume);
    if (path === '/api/issue/4000-300012/')
      return answer({
        ...issue(12),
        person_credits: [
          { id: 40439, name: 'Fiona Staples', role: 'artist, cover' },
          { id: 40468, name: 'Brian K. Vaughan', role: 'writer' },
        ],
      });
    if (path !== '/api/issues/' || query.get('filter') !== 'volume:46568') return fault(101, 'Object Not Found');
    const from = Number(query.get('offset'));
    const page = Array.from({ length: ISSUES }, (_, i) => issue(i + 1)).slice(
      from,
      from + Math.min(100, Number(query.get('limit'))),
    );
    return answer(page, ISSUES);
  });
  return Object.assign(catalogue, { state });
}

export const fanartKeys = { project: 'project key', personal: 'personal key' };
const GROUP = '6c1ae3b5-b1f8-3a3b-8f6d-9b3ddf8e8f3a';
export const fanartAlbum = { artist: 'a74b1b7f-71a5-4011-9441-d0b5e4122711', group: GROUP };

/** Fanart.tv, version 3. */
export async function startFanart() {
  const picture = (name: string, more: object = {}) => ({
    ...{ id: '1', url: `https://assets.fanart.tv/fanart/${name}.jpg`, lang: 'en', likes: '3' },
    ...more,
  });
  const titles: Record<string, object> = {
    '/v3/movies/949': {
      ...{ name: 'Heat', tmdb_id: '949', imdb_id: 'tt0113277' },
      movieposter: [
        picture('movies/949/movieposter/a'),
        picture('movies/949/movieposter/b', { lang: '00', likes: '11' }),
      ],
      hdmovielogo: [picture('movies/949/hdmovielogo/a', { lang: 'de' })],
    },
    '/v3/tv/334824': {
      ...{ name: 'Dark', thetvdb_id: '334824' },
      tvposter: [picture('tv/334824/tvposter/a')],
      seasonposter: [
        picture('tv/334824/seasonposter/1', { season: '1' }),
        picture('tv/334824/seasonposter/2', { season: '2' }),
      ],
    },
    [`/v3/music/albums/${GROUP}`]: {
      ...{ name: 'An Artist', mbid_id: fanartAlbum.artist },
      albums: {
        [GROUP]: {
          albumcover: [picture('music/cover', { lang: undefined })],
          cdart: [picture('music/cd', { disc: '1', size: '1000' })],
        },
      },
    },
  };
  return Catalogue.start(
    ({ path, headers }) => {
      if (headers['api-key'] !== fanartKeys.project)
        return { status: 401, body: { status: 'error', 'error message': 'API key is required' } };
      const title = path === '/v3/movies/550' ? { name: 'Fight Club' } : titles[path];
      return title && { body: title };
    },
    { status: 404, body: { status: 'error', 'error message': 'Not found' } },
  );
}

// Catalogues with keys: TheTVDB and IGDB with tokens that end, OMDb with faults in answers of status 200.
import { Catalogue, type Requested } from './catalogue.ts';

/** Tokens of a catalogue; `end` makes those that were given invalid. */
class Tokens {
  given = 0;
  #valid = new Set<string>();

  give(): string {
    this.given += 1;
    const token = `token-${this.given}`;
    this.#valid.add(token);
    return token;
  }

  takes(request: Requested): boolean {
    return this.#valid.has(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
  }

  end(): void {
    this.#valid.clear();
  }
}

export const tvdbKey = 'b0f5c2de-7d3b-4a59-93c5-5a8a0f6b7e11';

const series = {
  id: 334824,
  name: 'Dark',
  slug: 'dark',
  originalCountry: 'deu',
  originalLanguage: 'deu',
  firstAired: '2017-12-01',
  year: '2017',
  overview: 'A missing child causes four families to help each other.',
  averageRuntime: 52,
  status: { id: 2, name: 'Ended', recordType: 'series', keepUpdated: false },
  genres: [{ id: 12, name: 'Drama', slug: 'drama' }],
  originalNetwork: { id: 1, name: 'Netflix' },
  remoteIds: [
    { id: 'tt5753856', type: 2, sourceName: 'IMDB' },
    { id: '70523', type: 12, sourceName: 'TheMovieDB.com' },
  ],
  contentRatings: [{ id: 1, name: '16', country: 'deu', contentType: 'episode' }],
  characters: [
    { id: 1, name: 'Jonas', peopleId: 5, personName: 'Louis Hofmann', peopleType: 'Actor', sort: 1, image: null },
    { id: 2, name: null, peopleId: 6, personName: 'Baran bo Odar', peopleType: 'Director', sort: 2, image: null },
  ],
  artworks: [
    {
      id: 1,
      image: 'https://artworks.thetvdb.com/p.jpg',
      thumbnail: 'https://x.test/p_t.jpg',
      language: 'eng',
      type: 2,
      score: 1,
      width: 680,
      height: 1000,
    },
    {
      id: 2,
      image: 'https://artworks.thetvdb.com/s.jpg',
      thumbnail: null,
      language: null,
      type: 7,
      score: 1,
      width: 680,
      height: 1000,
      seasonId: 11,
    },
  ],
  seasons: [{ id: 11, seriesId: 334824, number: 1, type: { id: 1, name: 'Aired Order', type: 'official' } }],
};

const EPISODES = 700;
const PAGE = 500;
const episode = (number: number) => ({
  ...{ id: 1000 + number, seriesId: 334824, name: `Part ${number}`, aired: '2017-12-01', runtime: 50 },
  ...{ overview: null, image: null, seasonNumber: 1, number, absoluteNumber: number },
});

/** TheTVDB, version 4. */
export async function startTvdb() {
  const tokens = new Tokens();
  const data = (value: unknown, more = {}) => ({ body: { status: 'success', data: value, ...more } });
  const denied = { status: 401, body: { status: 'failure', message: 'Unauthorized', data: null } };
  const catalogue = await Catalogue.start((request) => {
    const { path, query, body } = request;
    if (path === '/v4/login') {
      const { apikey } = JSON.parse(body) as { apikey?: string };
      return apikey === tvdbKey ? data({ token: tokens.give() }) : denied;
    }
    if (!tokens.takes(request)) return denied;
    if (path === '/v4/artwork/types') return data([]);
    if (path === '/v4/search') {
      const hit = { objectID: 'series-334824', tvdb_id: '334824', name: 'Dark', type: 'series', year: '2017' };
      return data(
        (query.get('query') ?? '').toLowerCase() === 'dark' ? [{ ...hit, translations: { eng: 'Dark' } }] : [],
      );
    }
    if (path === '/v4/search/remoteid/tt5753856') return data([{ series: { id: 334824, name: 'Dark', year: '2017' } }]);
    if (path === '/v4/series/334824/extended') return data(series);
    if (path === '/v4/series/334824/translations/eng')
      return data({ name: 'Dark', overview: 'In English.', language: 'eng', tagline: null });
    if (path !== '/v4/series/334824/episodes/official/eng') return undefined;
    const page = Number(query.get('page') ?? 0);
    const numbers = Array.from({ length: EPISODES }, (_, at) => at + 1).slice(page * PAGE, (page + 1) * PAGE);
    const next = (page + 1) * PAGE < EPISODES ? `https://api4.thetvdb.com/v4/x?page=${page + 1}` : null;
    return data(
      { series, episodes: numbers.map(episode) },
      { links: { prev: null, self: '', next, total_items: EPISODES } },
    );
  });
  return Object.assign(catalogue, { tokens });
}

export const igdbKeys = { id: 'client', secret: 'secret of the client' };

const game = {
  id: 1942,
  name: 'The Witcher 3: Wild Hunt',
  slug: 'the-witcher-3-wild-hunt',
  summary: 'RPG and sequel to The Witcher 2.',
  first_release_date: 1_431_993_600,
  total_rating: 93.4,
  total_rating_count: 4000,
  cover: { id: 1, image_id: 'co1wyy', width: 600, height: 800 },
  artworks: [{ id: 2, image_id: 'ar4x8', width: 1920, height: 1080 }],
  genres: [{ id: 12, name: 'Role-playing (RPG)' }],
  platforms: [{ id: 6, name: 'PC (Microsoft Windows)' }],
  involved_companies: [{ id: 1, company: { id: 908, name: 'CD Projekt RED' }, developer: true, publisher: false }],
};

/** IGDB, with the tokens of Twitch at another path. */
export async function startIgdb() {
  const tokens = new Tokens();
  const catalogue = await Catalogue.start((request) => {
    const { path, query, body, headers, method } = request;
    if (path === '/oauth2/token') {
      const isKnown = query.get('client_id') === igdbKeys.id && query.get('client_secret') === igdbKeys.secret;
      if (!isKnown) return { status: 403, body: { status: 403, message: 'invalid client secret' } };
      return { body: { access_token: tokens.give(), expires_in: 5_011_271, token_type: 'bearer' } };
    }
    if (!tokens.takes(request) || headers['client-id'] !== igdbKeys.id)
      return { status: 401, body: { message: 'Authorization Failure. Have you tried:' } };
    if (path !== '/v4/games' || method !== 'POST') return undefined;
    const isHere = /search "the witcher 3|where id = 1942;|^fields id; limit 1;/i.test(body);
    return { body: isHere ? [game] : [] };
  });
  return Object.assign(catalogue, { tokens });
}

/** OMDb: the key, misses and limits are in the text of an answer. */
export async function startOmdb() {
  const state = { limited: false };
  const catalogue = await Catalogue.start(({ query }) => {
    const fault = (text: string, status = 200) => ({ status, body: { Response: 'False', Error: text } });
    if (query.get('apikey') !== 'omdb key') return fault('Invalid API key!', 401);
    if (state.limited) return fault('Request limit reached!', 401);
    if (query.get('i') === 'tt0000000') return fault('Incorrect IMDb ID.');
    const short = { Title: 'Heat', Year: '1995', imdbID: 'tt0113277', Type: 'movie', Poster: 'N/A' };
    if (query.has('s'))
      return query.get('s') === 'Heat'
        ? { body: { Search: [short], totalResults: '1', Response: 'True' } }
        : fault('Movie not found!');
    const more = { Rated: 'R', Released: '15 Dec 1995', Runtime: '170 min', Genre: 'Action, Crime', imdbRating: '8.3' };
    return {
      body: { ...short, ...more, Director: 'Michael Mann', Actors: 'Al Pacino', Writer: 'N/A', Response: 'True' },
    };
  });
  return Object.assign(catalogue, { state });
}

// The Movie Database, version 3, in the shapes that it answers.
import { Catalogue, type Reply, type Requested } from './catalogue.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const PAGE = 20;

const person = (id: number, name: string) => ({
  adult: false,
  gender: 2,
  id,
  known_for_department: 'Acting',
  name,
  original_name: name,
  popularity: 10.5,
  profile_path: `/p${id}.jpg`,
});

const picture = (file_path: string, iso_639_1: string | null, [width, height]: [number, number]) => ({
  aspect_ratio: width / height,
  height,
  iso_639_1,
  file_path,
  vote_average: 5.3,
  vote_count: 12,
  width,
});

export interface TmdbTitle {
  id: number;
  title: string;
  original?: string;
  date: string;
  imdb?: string;
  overview?: string;
  /** The series of films that it is a part of. */
  series?: { id: number; name: string };
  /** Episodes of each season. */
  seasons?: number[];
}

const films: TmdbTitle[] = [
  { id: 949, title: 'Heat', date: '1995-12-15', imdb: 'tt0113277', overview: 'Obsessive master thief Neil McCauley.' },
  { id: 11645, title: 'Ran', original: '乱', date: '1985-06-01', imdb: 'tt0089881' },
  { id: 12599, title: 'Heat', date: '1986-11-12', imdb: 'tt0093164' },
  { id: 348, title: 'Alien', date: '1979-05-25', imdb: 'tt0078748', series: { id: 8091, name: 'Alien Collection' } },
  { id: 679, title: 'Aliens', date: '1986-07-18', imdb: 'tt0090605', series: { id: 8091, name: 'Alien Collection' } },
  { id: 8077, title: 'Alien 3', date: '1992-05-22', imdb: 'tt0103644', series: { id: 8091, name: 'Alien Collection' } },
];
const shows: TmdbTitle[] = [
  { id: 70523, title: 'Dark', date: '2017-12-01', imdb: 'tt5753856', overview: 'A missing child.', seasons: [10, 8] },
];

const summaryOf = (one: TmdbTitle) => ({
  adult: false,
  backdrop_path: `/b${one.id}.jpg`,
  genre_ids: [28, 80],
  id: one.id,
  original_language: 'en',
  overview: one.overview ?? '',
  popularity: 60.1,
  poster_path: `/m${one.id}.jpg`,
  vote_average: 7.936,
  vote_count: 7900,
  ...(one.seasons
    ? {
        origin_country: ['DE'],
        original_name: one.original ?? one.title,
        first_air_date: one.date,
        name: one.title,
      }
    : { original_title: one.original ?? one.title, release_date: one.date, title: one.title, video: false }),
});

const credits = {
  cast: [
    { ...person(1158, 'Al Pacino'), cast_id: 1, character: 'Lt. Vincent Hanna', credit_id: 'a', order: 0 },
    { ...person(380, 'Robert De Niro'), cast_id: 2, character: 'Neil McCauley', credit_id: 'b', order: 1 },
  ],
  crew: [
    { ...person(638, 'Michael Mann'), credit_id: 'c', department: 'Directing', job: 'Director' },
    { ...person(638, 'Michael Mann'), credit_id: 'd', department: 'Writing', job: 'Writer' },
    { ...person(6949, 'Some Driver'), credit_id: 'e', department: 'Crew', job: 'Driver' },
  ],
};

const aggregate = {
  cast: [
    {
      ...person(1111, 'Louis Hofmann'),
      roles: [{ credit_id: 'f', character: 'Jonas Kahnwald', episode_count: 18 }],
      total_episode_count: 18,
      order: 0,
    },
  ],
  crew: [
    {
      ...person(2222, 'Baran bo Odar'),
      jobs: [{ credit_id: 'g', job: 'Director', episode_count: 18 }],
      department: 'Directing',
      total_episode_count: 18,
    },
  ],
};

const images = (id: number) => ({
  backdrops: [picture(`/b${id}.jpg`, null, [3840, 2160]), picture(`/t${id}.jpg`, 'en', [1920, 1080])],
  logos: [picture(`/l${id}.png`, 'en', [800, 310]), picture(`/l${id}.svg`, 'en', [800, 310])],
  posters: [picture(`/m${id}.jpg`, 'en', [2000, 3000]), picture(`/n${id}.jpg`, null, [1000, 1500])],
});

function detailsOf(one: TmdbTitle, appended: readonly string[]): object {
  const isShow = one.seasons !== undefined;
  const seasons = (one.seasons ?? []).map((count, at) => ({
    air_date: `${2017 + at}-12-01`,
    episode_count: count,
    id: one.id * 10 + at + 1,
    name: `Season ${at + 1}`,
    overview: '',
    poster_path: `/s${at + 1}.jpg`,
    season_number: at + 1,
    vote_average: 8,
  }));
  const parts: Record<string, object> = {
    credits,
    aggregate_credits: aggregate,
    images: images(one.id),
    external_ids: {
      imdb_id: one.imdb ?? null,
      wikidata_id: one.id === 949 ? 'Q42198' : null,
      facebook_id: null,
      ...(isShow && { tvdb_id: 334824 }),
    },
    keywords: isShow ? { results: [{ name: 'time travel', id: 4379 }] } : { keywords: [{ id: 642, name: 'robbery' }] },
    release_dates: {
      results: [
        {
          iso_3166_1: 'GB',
          release_dates: [
            {
              certification: '15',
              descriptors: [],
              iso_639_1: '',
              note: '',
              release_date: '1996-01-26T00:00:00.000Z',
              type: 3,
            },
          ],
        },
        {
          iso_3166_1: 'US',
          release_dates: [{ certification: 'R', iso_639_1: 'en', release_date: '1995-12-15T00:00:00.000Z', type: 3 }],
        },
      ],
    },
    content_ratings: { results: [{ descriptors: [], iso_3166_1: 'DE', rating: '16' }] },
  };
  return {
    ...summaryOf(one),
    ...{
      genres: [
        { id: 28, name: 'Action' },
        { id: 80, name: 'Crime' },
      ],
      homepage: '',
      status: isShow ? 'Ended' : 'Released',
      tagline: 'A Los Angeles crime saga',
    },
    production_companies: [{ id: 508, logo_path: null, name: 'Regency Enterprises', origin_country: 'US' }],
    production_countries: [{ iso_3166_1: 'US', name: 'United States of America' }],
    spoken_languages: [{ english_name: 'English', iso_639_1: 'en', name: 'English' }],
    ...(isShow
      ? {
          created_by: [{ id: 2222, name: 'Baran bo Odar' }],
          networks: [{ id: 213, name: 'Netflix' }],
          number_of_seasons: seasons.length,
          number_of_episodes: seasons.reduce((sum, each) => sum + each.episode_count, 0),
          seasons,
          in_production: false,
          episode_run_time: [],
        }
      : {
          belongs_to_collection: one.series ? { ...one.series, poster_path: null, backdrop_path: null } : null,
          budget: 60_000_000,
          imdb_id: one.imdb ?? null,
          revenue: 187_436_818,
          runtime: 170,
          video: false,
        }),
    ...Object.fromEntries(appended.flatMap((name) => (parts[name] ? [[name, parts[name]]] : []))),
  };
}

function seasonOf(show: TmdbTitle, number: number): object | undefined {
  const count = show.seasons?.[number - 1];
  if (count === undefined) return undefined;
  return {
    _id: `${show.id}-${number}`,
    air_date: `${2016 + number}-12-01`,
    name: `Season ${number}`,
    overview: `The ${number}. season.`,
    id: show.id * 10 + number,
    poster_path: `/s${number}.jpg`,
    season_number: number,
    vote_average: 8.1,
    episodes: Array.from({ length: count }, (_, at) => ({
      air_date: `${2016 + number}-12-${String(at + 1).padStart(2, '0')}`,
      ...{
        episode_number: at + 1,
        episode_type: 'standard',
        season_number: number,
        show_id: show.id,
        production_code: '',
      },
      id: show.id * 1000 + number * 100 + at + 1,
      name: `Secrets ${at + 1}`,
      overview: `What happens in ${at + 1}.`,
      runtime: 52,
      still_path: `/e${number}x${at + 1}.jpg`,
      ...{ vote_average: 7.7, vote_count: 100 },
      crew: [{ ...person(2222, 'Baran bo Odar'), credit_id: 'h', department: 'Directing', job: 'Director' }],
      guest_stars: [{ ...person(3333, 'Lisa Vicari'), character: 'Martha', credit_id: 'i', order: 500 }],
    })),
    images: { posters: [picture(`/s${number}.jpg`, 'en', [1000, 1500])] },
  };
}

/** Al Pacino in English, and untranslated elsewhere; other people have no facts. */
function personFacts(id: number, { query }: Requested): object {
  const isEnglish = (query.get('language') ?? 'en').startsWith('en');
  const known = id === 1158;
  return {
    ...person(id, known ? 'Al Pacino' : 'Somebody'),
    ...{ also_known_as: known ? ['Alfredo James Pacino', 'アル・パチーノ'] : [], deathday: null, homepage: null },
    ...{ birthday: known ? '1940-04-25' : null, place_of_birth: known ? 'New York City, New York, USA' : null },
    biography: known && isEnglish ? 'Alfredo James "Al" Pacino is an American actor.' : '',
    imdb_id: known ? 'nm0000199' : null,
    ...(!known && { profile_path: null }),
    external_ids: { id, imdb_id: known ? 'nm0000199' : null, wikidata_id: known ? 'Q41163' : null, tvrage_id: null },
  };
}

function searched(all: readonly TmdbTitle[], { query }: Requested): Reply {
  const text = (query.get('query') ?? '').toLowerCase();
  const year = query.get('year') ?? query.get('first_air_date_year');
  const hits = all.filter((one) => one.title.toLowerCase().includes(text) && (!year || one.date.startsWith(year)));
  const page = Number(query.get('page') ?? 1);
  const body = {
    page,
    results: hits.slice((page - 1) * PAGE, page * PAGE).map(summaryOf),
    total_pages: Math.ceil(hits.length / PAGE),
    total_results: hits.length,
  };
  return { body };
}

const INVALID = { success: false, status_code: 7, status_message: 'Invalid API key: You must be granted a valid key.' };
const MISSING = {
  status: 404,
  body: { success: false, status_code: 34, status_message: 'The resource you requested could not be found.' },
};

/** TMDB with its key, and the address of its pictures. */
export async function startTmdb({ pictures = 'https://image.tmdb.org/t/p/', extra = [] as TmdbTitle[] } = {}) {
  const allFilms = [...films, ...extra];
  const state = { key: KEY };
  const catalogue = await Catalogue.start((request) => {
    const bearer = request.headers.authorization?.replace(/^Bearer /, '');
    if ((request.query.get('api_key') ?? bearer) !== state.key) return { status: 401, body: INVALID };
    return answer(request, { films: allFilms, pictures });
  }, MISSING);
  return Object.assign(catalogue, { state });
}

function answer(
  request: Requested,
  { films: all, pictures }: { films: readonly TmdbTitle[]; pictures: string },
): Reply | undefined {
  const { path, query } = request;
  if (path === '/3/configuration')
    return {
      body: {
        change_keys: [],
        images: { base_url: pictures, secure_base_url: pictures, poster_sizes: ['w342', 'original'] },
      },
    };
  if (path === '/3/search/movie') return searched(all, request);
  if (path === '/3/search/tv') return searched(shows, request);
  const [, imdb] = /^\/3\/find\/(tt\d+)$/.exec(path) ?? [];
  if (imdb) {
    const by = (list: readonly TmdbTitle[]) => list.filter((one) => one.imdb === imdb).map(summaryOf);
    return {
      body: {
        movie_results: by(all),
        tv_results: by(shows),
        person_results: [],
        tv_episode_results: [],
        tv_season_results: [],
      },
    };
  }
  const [, personId] = /^\/3\/person\/(\d+)$/.exec(path) ?? [];
  if (personId !== undefined)
    return Number(personId) < 10_000 ? { body: personFacts(Number(personId), request) } : undefined;
  const [, branch, id, , number] = /^\/3\/(movie|tv)\/(\d+)(\/season\/(\d+))?$/.exec(path) ?? [];
  const one = (branch === 'tv' ? shows : all).find((each) => String(each.id) === id);
  if (!one) return undefined;
  const appended = (query.get('append_to_response') ?? '').split(',');
  const body = number === undefined ? detailsOf(one, appended) : seasonOf(one, Number(number));
  return body && { body, headers: { etag: `W/"${id}-${number ?? ''}"` } };
}

export const tmdbKey = KEY;

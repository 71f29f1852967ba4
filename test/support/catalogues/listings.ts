// TMDB and Wikidata with releases around today, and offers of streaming services, in the shapes that they answer.
import { Catalogue, type Reply, type Requested } from './catalogue.ts';
import { tmdbKey } from './tmdb.ts';

/** YYYY-MM-DD, so many days from today. */
export const dayFrom = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

interface Film {
  id: number;
  title: string;
  popularity: number;
  /** Type of release to its day, in Great Britain. */
  releases: Record<number, string>;
  certification?: string;
  imdb?: string;
  wikidata?: string;
  offers?: Record<string, { provider_id: number; provider_name: string }[]>;
}

const NETFLIX = { provider_id: 8, provider_name: 'Netflix' };
const films: Film[] = [
  {
    ...{ id: 100, title: 'Night Train', popularity: 50, releases: { 3: dayFrom(-10) }, certification: '12A' },
    ...{ imdb: 'tt1000001', wikidata: 'Q1001' },
  },
  {
    ...{
      id: 101,
      title: 'Old Road',
      popularity: 80,
      releases: { 3: dayFrom(-30), 4: dayFrom(-3) },
      certification: '18',
    },
    offers: { flatrate: [NETFLIX], rent: [{ provider_id: 2, provider_name: 'Apple TV' }] },
  },
  { id: 102, title: 'Far Shore', popularity: 10, releases: { 3: dayFrom(20) } },
  { id: 103, title: 'Silver Disc', popularity: 5, releases: { 3: dayFrom(-200), 5: dayFrom(-5) }, certification: 'U' },
  { id: 104, title: 'Next Disc', popularity: 4, releases: { 5: dayFrom(30) }, certification: 'PG' },
  {
    ...{
      id: 949,
      title: 'Heat',
      popularity: 60,
      releases: { 3: '1996-01-26' },
      certification: '15',
      imdb: 'tt0113277',
    },
    offers: { free: [{ provider_id: 9999, provider_name: 'Niche Box+' }] },
  },
];
const dark = { id: 70523, name: 'Dark', offers: { flatrate: [NETFLIX] } };

const summaryOf = ({ id, title, popularity, releases }: Film) => ({
  ...{ adult: false, backdrop_path: null, genre_ids: [18], id, original_language: 'en', original_title: title, title },
  ...{ overview: `About ${title}.`, popularity, poster_path: `/m${id}.jpg`, video: false },
  ...{ release_date: Object.values(releases).sort()[0], vote_average: 7.5, vote_count: 1000 },
});
const showSummary = {
  ...{ adult: false, id: dark.id, name: dark.name, original_name: dark.name, first_air_date: '2017-12-01' },
  ...{ overview: 'A missing child.', popularity: 40, poster_path: null, vote_average: 8.4, vote_count: 6000 },
};

const detailsOf = (film: Film) => ({
  ...summaryOf(film),
  ...{ genres: [{ id: 18, name: 'Drama' }], homepage: '', runtime: 100, status: 'Released', tagline: 'A line' },
  ...{ belongs_to_collection: null, imdb_id: film.imdb ?? null, spoken_languages: [{ iso_639_1: 'en' }] },
  production_countries: [{ iso_3166_1: 'GB', name: 'United Kingdom' }],
  external_ids: { imdb_id: film.imdb ?? null, wikidata_id: film.wikidata ?? null },
  credits: { cast: [{ id: 1158, name: 'Al Pacino', character: 'Vincent', order: 0 }], crew: [] },
  release_dates: {
    results: [
      {
        iso_3166_1: 'GB',
        release_dates: Object.entries(film.releases).map(([type, day]) => ({
          ...{ certification: film.certification ?? '', iso_639_1: '', note: '' },
          ...{ release_date: `${day}T00:00:00.000Z`, type: Number(type) },
        })),
      },
    ],
  },
  videos: { results: [{ key: 'abc123', site: 'YouTube', type: 'Trailer', iso_639_1: 'en' }] },
  'watch/providers': providersOf(film.offers),
});
const providersOf = (offers: Film['offers']) => ({
  results: offers ? { GB: { link: 'https://www.themoviedb.org/movie/x/watch', ...offers } } : {},
});
const showDetails = {
  ...{ ...showSummary, genres: [{ id: 18, name: 'Drama' }], episode_run_time: [], origin_country: ['DE'] },
  seasons: [1, 2].map((number) => ({
    season_number: number,
    name: `Season ${number}`,
    episode_count: 8,
    air_date: '2017-12-01',
  })),
  external_ids: { imdb_id: 'tt5753856', tvdb_id: 334824, wikidata_id: null },
  content_ratings: { results: [{ iso_3166_1: 'GB', rating: '15' }] },
  'watch/providers': providersOf(dark.offers),
};

const listed = (results: object[]): Reply => ({
  body: { page: 1, results, total_pages: 1, total_results: results.length },
});

function discovered({ path, query }: Requested): Reply {
  if (query.get('watch_region')) {
    if (query.get('watch_region') !== 'GB') return listed([]);
    return listed(path.endsWith('/tv') ? [showSummary] : films.filter((one) => one.offers).map(summaryOf));
  }
  const types = (query.get('with_release_type') ?? '').split('|');
  const [from, to] = [query.get('release_date.gte') ?? '', query.get('release_date.lte') ?? ''];
  const isWithin = (film: Film): boolean =>
    Object.entries(film.releases).some(([type, day]) => types.includes(type) && day >= from && day <= to);
  return listed(query.get('region') === 'GB' ? films.filter(isWithin).map(summaryOf) : []);
}

function tmdb(request: Requested, pictures: string): Reply | undefined {
  const { path, query } = request;
  if (path === '/3/configuration') return { body: { images: { base_url: pictures, secure_base_url: pictures } } };
  if (path.startsWith('/3/discover/')) return discovered(request);
  if (path.startsWith('/3/watch/providers/'))
    return { body: { results: [NETFLIX, { provider_id: 9999, provider_name: 'Niche Box+' }] } };
  const text = (query.get('query') ?? '').toLowerCase();
  if (path === '/3/search/movie')
    return listed(films.filter(({ title }) => title.toLowerCase().includes(text)).map(summaryOf));
  if (path === '/3/search/tv') return listed(dark.name.toLowerCase().includes(text) ? [showSummary] : []);
  const [, found] = /^\/3\/find\/(\w+)$/.exec(path) ?? [];
  if (found !== undefined) {
    const hits = films.filter(({ imdb, wikidata }) => imdb === found || wikidata === found);
    return { body: { movie_results: hits.map(summaryOf), tv_results: [], person_results: [] } };
  }
  const [, branch, id, part] = /^\/3\/(movie|tv)\/(\d+)(\/watch\/providers)?$/.exec(path) ?? [];
  if (branch === 'tv')
    return id === String(dark.id) ? { body: part ? providersOf(dark.offers) : showDetails } : undefined;
  const film = films.find((one) => String(one.id) === id);
  return film && { body: part ? providersOf(film.offers) : detailsOf(film) };
}

const MISSING = { status: 404, body: { success: false, status_code: 34, status_message: 'Not found.' } };

/** TMDB with lists. */
export const startTmdbListings = (pictures: string): Promise<Catalogue> =>
  Catalogue.start(
    (request) =>
      request.query.get('api_key') === tmdbKey ? tmdb(request, pictures) : { status: 401, body: { status_code: 7 } },
    MISSING,
  );

const label = (value: string) => ({ en: { language: 'en', value } });
const snak = (value: unknown) => ({ snaktype: 'value', property: 'P', datavalue: { value, type: 'x' } });
const statement = (value: unknown, qualifiers?: Record<string, unknown[]>) => ({
  ...{ mainsnak: snak(value), type: 'statement', id: 'Q$1', rank: 'normal' },
  ...(qualifiers && {
    qualifiers: Object.fromEntries(Object.entries(qualifiers).map(([of, all]) => [of, all.map(snak)])),
  }),
});
const item = (id: string) => ({ 'entity-type': 'item', 'numeric-id': Number(id.slice(1)), id });
const released = (day: string, ...more: [string, string][]) =>
  statement(
    { time: `+${day}T00:00:00Z`, timezone: 0, precision: 11 },
    { P291: [item('Q145')], ...Object.fromEntries(more.map(([property, id]) => [property, [item(id)]])) },
  );

const entities: Record<string, object> = {
  Q145: { id: 'Q145', labels: label('United Kingdom'), claims: { P297: [statement('GB')] } },
  Q1001: {
    ...{ id: 'Q1001', labels: label('Night Train'), descriptions: label('film') },
    claims: { P345: [statement('tt1000001')], P577: [released(dayFrom(-10))] },
  },
  Q2001: {
    ...{ id: 'Q2001', labels: label('Quiet Harbour'), descriptions: label('film by somebody') },
    claims: { P577: [released(dayFrom(-12))], P345: [statement('tt2000001')] },
  },
  Q2002: {
    ...{ id: 'Q2002', labels: label('Listed Serial'), descriptions: label('television series') },
    claims: {
      P4983: [statement('555')],
      P1874: [statement('81111111')],
      P580: [statement({ time: `+${dayFrom(-90)}T00:00:00Z`, precision: 11 })],
    },
  },
  Q2003: {
    ...{ id: 'Q2003', labels: label('Disc of Wikidata'), descriptions: label('film') },
    claims: { P577: [released(dayFrom(-8), ['P437', 'Q5294'])] },
  },
};

function wikidata({ path, query }: Requested): Reply | undefined {
  if (path === '/sparql') {
    const sparql = query.get('query') ?? '';
    const isPlaced = sparql.includes('wdt:P297 "GB"');
    const ids = sparql.includes('wdt:P1874') ? ['Q2002'] : isPlaced ? ['Q1001', 'Q2001', 'Q2003'] : [];
    const bindings = ids.map((id) => ({ item: { type: 'uri', value: `http://www.wikidata.org/entity/${id}` } }));
    return { body: { head: { vars: ['item'] }, results: { bindings } } };
  }
  const action = query.get('action');
  if (action === 'wbgetentities') {
    const ids = (query.get('ids') ?? '').split('|');
    return {
      body: { entities: Object.fromEntries(ids.map((id) => [id, entities[id] ?? { id, missing: '' }])), success: 1 },
    };
  }
  if (action === 'wbsearchentities') {
    const isHarbour = (query.get('search') ?? '').toLowerCase().includes('harbour');
    return {
      body: { search: isHarbour ? [{ id: 'Q2001', title: 'Q2001', description: 'film by somebody' }] : [], success: 1 },
    };
  }
  const [, imdb] = /^haswbstatement:P345=(tt\d+)$/.exec(query.get('srsearch') ?? '') ?? [];
  const hit = imdb === 'tt2000001' ? ['Q2001'] : imdb === 'tt1000001' ? ['Q1001'] : [];
  return { body: { batchcomplete: '', query: { search: hit.map((title) => ({ ns: 0, title })) } } };
}

/** Wikidata with its query service. */
export const startWikidataListings = (): Promise<Catalogue> => Catalogue.start(wikidata);

// OpenSubtitles, REST API version 1, with the host that a login names and the host of the files.
import { Catalogue, type Reply, type Requested } from './catalogue.ts';

export const subtitlesKey = 'kG7lSdU2pCj8xYvQw3bTnZ5eRaMfHo1i';
export const subtitlesUser = { username: 'ana', password: 'a secret' };

/** A subtitle of the service. */
export interface Uploaded {
  language: string;
  release: string;
  imdb?: number;
  tmdb?: number;
  parentImdb?: number;
  parentTmdb?: number;
  season?: number;
  episode?: number;
  title?: string;
  movieHash?: string;
  hearingImpaired?: boolean;
  forced?: boolean;
  machine?: boolean;
  downloads?: number;
  fps?: number;
  uploader?: string;
  /** A file for each disc. */
  files: { id: number; bytes: string | Buffer; name?: string }[];
}

const PER_PAGE = 50;
const RESET_SEC = 5400;

export interface State {
  uploaded: Uploaded[];
  /** Downloads that are left today. */
  remaining: number;
  /** The links of downloads lead to nothing. */
  deadLinks: boolean;
  logins: number;
  /** In place of the host of the login. */
  loginHost?: string | undefined;
}

function attributes(one: Uploaded, hash: string | null) {
  const feature = { feature_id: 5, feature_type: one.season === undefined ? 'Movie' : 'Episode', year: 1995 };
  return {
    subtitle_id: String(one.files[0]?.id ?? 0),
    language: one.language,
    ...{ download_count: one.downloads ?? 0, new_download_count: 0, hearing_impaired: one.hearingImpaired ?? false },
    ...{ hd: true, fps: one.fps ?? 0, votes: 0, points: 0, ratings: 0, from_trusted: true },
    ...{ foreign_parts_only: one.forced ?? false, upload_date: '2020-03-01T12:00:00Z', file_hashes: [] },
    ...{ ai_translated: false, machine_translated: one.machine ?? false, nb_cd: one.files.length, slug: 'x' },
    ...(hash !== null && { moviehash_match: one.movieHash === hash }),
    ...{ release: one.release, comments: '', legacy_subtitle_id: null, legacy_uploader_id: null },
    uploader: { uploader_id: 9, name: one.uploader ?? 'ada', rank: 'Trusted member' },
    feature_details: {
      ...{ ...feature, title: one.title ?? 'Heat', movie_name: `1995 - ${one.title ?? 'Heat'}` },
      ...{ imdb_id: one.imdb ?? 0, tmdb_id: one.tmdb ?? null },
      ...(one.season !== undefined && {
        ...{ season_number: one.season, episode_number: one.episode, parent_imdb_id: one.parentImdb },
        ...{ parent_tmdb_id: one.parentTmdb, parent_title: one.title },
      }),
    },
    url: 'https://www.opensubtitles.com/en/subtitles/x',
    related_links: [],
    files: one.files.map(({ id, name }, at) => ({ file_id: id, cd_number: at + 1, file_name: name ?? one.release })),
  };
}

/** Which uploads a search finds. A hash adds to what the other parameters find. */
function matching(uploaded: readonly Uploaded[], query: URLSearchParams): Uploaded[] {
  const number = (name: string): number | undefined => (query.has(name) ? Number(query.get(name)) : undefined);
  const same = (name: string, value: number | undefined): boolean => !query.has(name) || number(name) === value;
  const languages = query.get('languages')?.split(',');
  const words = (query.get('query') ?? '').split(' ').filter((word) => word !== '');
  const isNamed = ['imdb_id', 'tmdb_id', 'parent_imdb_id', 'parent_tmdb_id', 'query'].some((name) => query.has(name));
  const choice = (name: string, has: boolean | undefined): boolean =>
    !['only', 'exclude'].includes(query.get(name) ?? '') || (query.get(name) === 'only') === (has ?? false);
  return uploaded.filter((one) => {
    if (languages && !languages.includes(one.language.toLowerCase())) return false;
    if (!choice('hearing_impaired', one.hearingImpaired) || !choice('foreign_parts_only', one.forced)) return false;
    if (!query.has('machine_translated') && one.machine) return false;
    const text = `${one.title ?? 'Heat'} ${one.release}`.toLowerCase();
    const named = same('imdb_id', one.imdb) && same('tmdb_id', one.tmdb) && words.every((word) => text.includes(word));
    const placed = same('season_number', one.season) && same('episode_number', one.episode);
    const parent = same('parent_imdb_id', one.parentImdb) && same('parent_tmdb_id', one.parentTmdb);
    return (
      (isNamed && named && placed && parent) || (query.has('moviehash') && one.movieHash === query.get('moviehash'))
    );
  });
}

/** The service redirects a query that is not in order and in lower case, so that its cache holds it once. */
function canonical(search: string): string {
  const pairs = search
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => pair.toLowerCase());
  return pairs.sort((a, b) => ((a.split('=')[0] ?? '') < (b.split('=')[0] ?? '') ? -1 : 1)).join('&');
}

export async function startOpenSubtitles(uploaded: Uploaded[] = []) {
  const state: State = { uploaded, remaining: 20, deadLinks: false, logins: 0 };
  const tokens = new Set<string>();
  const json = (status: number, body: unknown): Reply => ({ status, body });
  const files = await Catalogue.start(({ path }) => {
    const id = Number(/^\/download\/(\d+)$/.exec(path)?.[1]);
    const found = state.uploaded.flatMap((one) => one.files).find((one) => one.id === id);
    if (!found || state.deadLinks) return { status: 410, headers: { 'content-type': 'text/html' }, body: 'gone' };
    return { headers: { 'content-type': 'application/octet-stream' }, body: found.bytes };
  });
  const login = ({ body }: Requested): Reply => {
    const given = JSON.parse(body) as Partial<typeof subtitlesUser>;
    if (given.username !== subtitlesUser.username || given.password !== subtitlesUser.password)
      return json(401, { message: 'Error, invalid username/password', status: 401 });
    state.logins += 1;
    const token = `token-${state.logins}`;
    tokens.add(token);
    const user = { allowed_downloads: 20, allowed_translations: 1, level: 'Sub leecher', user_id: 66, vip: false };
    return json(200, {
      user: { ...user, ext_installed: false },
      base_url: state.loginHost ?? new URL(vip.url).host,
      token,
      status: 200,
    });
  };
  const tokenOf = ({ headers }: Requested): string => (headers.authorization ?? '').replace(/^Bearer /, '');
  const search = (request: Requested): Reply => {
    const wanted = canonical(request.search);
    if (wanted !== request.search)
      return { status: 301, headers: { location: `${request.path}?${wanted}`, 'content-type': 'text/html' }, body: '' };
    const found = matching(state.uploaded, request.query);
    const page = Number(request.query.get('page') ?? 1);
    const data = found.slice((page - 1) * PER_PAGE, page * PER_PAGE).map((one) => ({
      id: String(one.files[0]?.id),
      type: 'subtitle',
      attributes: attributes(one, request.query.get('moviehash')),
    }));
    const pages = Math.ceil(found.length / PER_PAGE);
    return json(200, { total_pages: pages, total_count: found.length, per_page: PER_PAGE, page, data });
  };
  const download = ({ body }: Requested): Reply => {
    const { file_id: id } = JSON.parse(body) as { file_id: number };
    const reset = new Date(Date.now() + RESET_SEC * 1000).toISOString();
    const times = { reset_time: '01 hours and 30 minutes', reset_time_utc: reset };
    if (state.remaining <= 0)
      return json(406, {
        requests: 21,
        remaining: -1,
        message: 'You have downloaded your allowed 20 subtitles',
        ...times,
      });
    if (!state.uploaded.some((one) => one.files.some((file) => file.id === id)))
      return json(400, { message: 'Invalid file_id', status: 400 });
    state.remaining -= 1;
    const left = { requests: 20 - state.remaining, remaining: state.remaining, message: 'Your quota will be renewed' };
    return json(200, { link: `${files.url}/download/${id}`, file_name: 'x.srt', ...left, ...times });
  };
  const protocol =
    (isVip: boolean) =>
    (request: Requested): Reply | undefined => {
      const { path, method, headers } = request;
      if (headers['api-key'] !== subtitlesKey) return json(403, { message: 'You cannot consume this service' });
      if (!headers['user-agent'] || /^(?:node|undici|foyer$)/i.test(headers['user-agent']))
        return json(403, { message: 'User-Agent is required: App name with version' });
      if (path === '/api/v1/login' && method === 'POST') return login(request);
      const token = tokenOf(request);
      if (token !== '' && !tokens.has(token)) return json(401, { message: 'invalid token' });
      if (token !== '' && !isVip) return json(421, { message: 'use the base_url of the login' });
      if (path === '/api/v1/subtitles' && method === 'GET') return search(request);
      if (path === '/api/v1/download' && method === 'POST') return download(request);
      return undefined;
    };
  const main = await Catalogue.start(protocol(false));
  const vip = await Catalogue.start(protocol(true));
  return { main, vip, files, state, endTokens: () => tokens.clear() };
}
export type OpenSubtitlesFake = Awaited<ReturnType<typeof startOpenSubtitles>>;

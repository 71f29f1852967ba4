import { OutboundRefused } from '#platform/outbound.ts';
import { likeness } from '../find/likeness.ts';
import { badFile } from '../foreign/read.ts';
import {
  type Choice,
  type ForeignFile,
  type Found,
  type MatchedBy,
  type Means,
  type Provider,
  ProviderFault,
  type Wanted,
} from '../providers/provider.ts';
import { type Attributes, Link, Page } from './answers.ts';
import { faultOf, ID, keysOf, refusalCircuit, requestApi } from './client.ts';
import { codesOf, tagOf } from './languages.ts';

/** Limit of a download; archives are smaller than their text. */
const MOST_FILE_BYTES = 6 << 20;
const MOST_PAGES = 3;
const DOWNLOADS = `${ID}:download`;

export const openSubtitles: Provider = {
  ...{ id: ID, name: 'OpenSubtitles', kind: 'opensubtitles' },
  async isConfigured(deps) {
    if (deps.settings.get('network.offline') && deps.settings.get('metadata.allowedNetworks').length === 0)
      return false;
    return (await keysOf(deps)).missing.length === 0;
  },
  circuits: async (deps) => [ID, refusalCircuit(deps, await keysOf(deps))],
  search,
  download,
};

type Query = Record<string, string | number | undefined>;

async function search(means: Means, wanted: Wanted): Promise<Found[]> {
  const by = identified(wanted);
  const found = await pages(means, { ...common(wanted), ...(by ?? titled(wanted)) });
  const enough = found.length > 0 || by === undefined || wanted.query !== undefined;
  const all = enough ? found : await pages(means, { ...common(wanted), ...titled(wanted) });
  return all.flatMap((one) => foundIn(one, wanted));
}

const common = ({ languages, hearingImpaired, forced, movieHash, query }: Wanted): Query => ({
  ...{ languages: codesOf(languages).join(','), machine_translated: 'include' },
  ...{ hearing_impaired: chosen(hearingImpaired), foreign_parts_only: chosen(forced) },
  moviehash: query === undefined ? movieHash : undefined,
});

/** The service redirects a query with a default value. */
const chosen = (choice: Choice): Choice | undefined => (choice === 'include' ? undefined : choice);

const imdbNumber = (id: string | undefined): number | undefined => {
  const [, digits] = /^tt0*(\d{1,10})$/.exec(id ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
};
const plainNumber = (id: string | undefined): number | undefined =>
  id !== undefined && /^\d{1,10}$/.test(id) ? Number(id) : undefined;

/** The parameters of a film's or an episode's ids; undefined without any. An episode is found by the ids of its show. */
function identified({ ids, show, season, episode, query }: Wanted): Query | undefined {
  if (query !== undefined) return undefined;
  if (show && season !== undefined && episode !== undefined) {
    const parent = idsOf(show.ids, 'parent_');
    return parent && { ...parent, season_number: season, episode_number: episode };
  }
  return idsOf(ids, '');
}

/** One id suffices, and two that disagree find nothing. */
function idsOf(ids: Readonly<Record<string, string>>, prefix: string): Query | undefined {
  const [imdb, tmdb] = [imdbNumber(ids['imdb']), plainNumber(ids['tmdb'])];
  if (imdb !== undefined) return { [`${prefix}imdb_id`]: imdb };
  return tmdb === undefined ? undefined : { [`${prefix}tmdb_id`]: tmdb };
}

function titled({ query, title, show, season, episode, year }: Wanted): Query {
  if (query !== undefined) return { query };
  if (show) return { query: show.title, season_number: season, episode_number: episode };
  return { query: title, year };
}

async function pages(means: Means, query: Query): Promise<Attributes[]> {
  const found: Attributes[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const request = { path: '/subtitles', query: { ...query, ...(page > 1 && { page }) }, schema: Page, circuit: ID };
    const answer = await requestApi(means, request).catch((error: unknown) => {
      if (page === 1) throw error;
      return { data: [], total_pages: 0 }; // the first page is an answer already
    });
    found.push(...answer.data.map(({ attributes }) => attributes));
    if (page >= (answer.total_pages ?? 1)) break;
  }
  return found;
}

/** A release may have a file for each of its discs; only those of one file fit. */
function foundIn(one: Attributes, wanted: Wanted): Found[] {
  const language = tagOf(one.language ?? '');
  const [file] = one.files;
  if (language === undefined || !file) return [];
  return one.files.map(({ file_id: id, file_name: name, cd_number: disc }) => {
    const release = (one.release || name || wanted.title).trim().slice(0, 300);
    return {
      file: String(id),
      release: one.files.length > 1 ? `${release} (${disc ?? name ?? id})` : release,
      language,
      ...factsOf(one),
      matchedBy: matchOf(one, wanted, release),
    };
  });
}

function factsOf(one: Attributes) {
  return {
    hearingImpaired: one.hearing_impaired === true,
    forced: one.foreign_parts_only === true,
    translatedByMachine: one.ai_translated === true || one.machine_translated === true,
    frameRate: within(one.fps, 1000),
    downloads: within(one.download_count, Number.MAX_SAFE_INTEGER, Math.trunc),
    rating: within(one.ratings, 10),
    uploader: one.uploader?.name?.slice(0, 100) || undefined,
    uploadedAt: dateOf(one.upload_date),
  };
}

/** The service says 0 for what it does not know. */
function within(value: number | null | undefined, most: number, made = (known: number) => known): number | undefined {
  return value && value > 0 && value <= most ? made(value) : undefined;
}

function dateOf(text: string | null | undefined): string | undefined {
  const at = Date.parse(text ?? '');
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
}

function matchOf(one: Attributes, wanted: Wanted, release: string): MatchedBy {
  if (one.moviehash_match === true) return 'hash';
  const feature = one.feature_details ?? {};
  if (isSame(wanted.ids, feature)) return 'id';
  const numbers = feature.season_number === wanted.season && feature.episode_number === wanted.episode;
  if (wanted.show && numbers && !wanted.query) return 'episode';
  return wanted.release !== undefined && likeness(wanted.release, release) >= 0.6 ? 'release' : 'title';
}

function isSame(ids: Wanted['ids'], feature: NonNullable<Attributes['feature_details']>): boolean {
  const [imdb, tmdb] = [imdbNumber(ids['imdb']), plainNumber(ids['tmdb'])];
  return (imdb !== undefined && feature.imdb_id === imdb) || (tmdb !== undefined && feature.tmdb_id === tmdb);
}

/** The API answers with a link at another host, which may be gone. */
async function download(means: Means, file: string): Promise<ForeignFile> {
  const request = { method: 'POST', path: '/download', body: { file_id: Number(file) }, schema: Link } as const;
  const { link } = await requestApi(means, { ...request, circuit: DOWNLOADS });
  const answer = await means.deps.catalogues
    .outbound(link, { maxBytes: MOST_FILE_BYTES, maxRedirects: 3, signal: means.signal, headers: { accept: '*/*' } })
    .catch((error: unknown) => {
      throw error instanceof OutboundRefused && error.reason === 'size' ? badFile('size') : faultOf(error);
    });
  if (answer.status !== 200) throw new ProviderFault('error', `the link answered ${answer.status}`);
  return { bytes: answer.body };
}

import { z } from 'zod';
import { calendarDay } from '../calendar.ts';
import type { ItemValues, NamedCredit } from '../item-values.ts';
import type { Agent, Description, Found, Identity, KnownChild, Query, RemotePicture, Wanted } from './agent.ts';
import { credits, idOf, known, list, NUMBER, names, number, plain, roleOf, text, yearOf } from './parts.ts';

const MOST_FOUND = 20;
const MOST_ISSUES = 1000;
const PAGE = 100;

const Image = z.object({ original_url: text(), small_url: text() }).nullish();
const Named = z.object({ id: z.int(), name: text() });
const Volume = z.object({
  id: z.int(),
  name: text(),
  aliases: text(),
  start_year: text(),
  deck: text(),
  description: text(),
  count_of_issues: number(),
  publisher: z.object({ name: text() }).nullish(),
  image: Image,
});
type Volume = z.output<typeof Volume>;
const Issue = z.object({
  id: z.int(),
  name: text(),
  issue_number: text(),
  cover_date: text(),
  store_date: text(),
  deck: text(),
  description: text(),
  image: Image,
  person_credits: list(Named.extend({ role: text() })),
});
type Issue = z.output<typeof Issue>;
const one = <S extends z.ZodType>(of: S) => z.object({ status_code: z.literal(1), results: of });
const many = <S extends z.ZodType>(of: S) =>
  z.object({ status_code: z.literal(1), results: list(of), number_of_total_results: number() });

const JSON_ONLY = { format: 'json' };
const VOLUME = 'id,name,aliases,start_year,deck,description,count_of_issues,publisher,image';
const ISSUE = 'id,name,issue_number,cover_date,store_date,deck,description,image,person_credits';

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const id = idOf(wanted.ids, 'comicvine', NUMBER);
  const own = id ? await volumeOf(query, id) : undefined;
  if (own) return [foundOf(own)];
  const answer = await query({
    path: '/api/search/',
    query: {
      ...JSON_ONLY,
      ...{ resources: 'volume', query: wanted.title.slice(0, 200), limit: MOST_FOUND, field_list: VOLUME },
    },
    schema: many(Volume),
  });
  return (answer?.results ?? []).map(foundOf);
}

const foundOf = (volume: Volume): Found =>
  known<Found>({
    ids: { comicvine: String(volume.id) },
    type: 'comic-series',
    title: volume.name ?? '',
    aliases: names((volume.aliases ?? '').split('\n')),
    year: yearOf(volume.start_year),
    overview: volume.deck ?? plain(volume.description),
    poster: volume.image?.small_url,
  });

async function volumeOf(query: Query, id: string): Promise<Volume | undefined> {
  const path = `/api/volume/4050-${id}/`;
  return (await query({ path, query: { ...JSON_ONLY, field_list: VOLUME }, schema: one(Volume) }))?.results;
}

/** Issues of a volume, page by page. */
async function issuesOf(query: Query, id: string): Promise<Issue[]> {
  const all: Issue[] = [];
  for (let offset = 0; offset < MOST_ISSUES; offset += PAGE) {
    const answer = await query({
      path: '/api/issues/',
      query: { ...JSON_ONLY, filter: `volume:${id}`, limit: PAGE, offset, sort: 'issue_number:asc', field_list: ISSUE },
      schema: many(Issue),
    });
    all.push(...(answer?.results ?? []));
    if (all.length >= (answer?.number_of_total_results ?? 0) || !answer?.results.length) break;
  }
  return all;
}

/** The ids of a comic are those of its series. */
async function describe(query: Query, { type, ids, index }: Identity): Promise<Description | undefined> {
  const id = idOf(ids, 'comicvine', NUMBER);
  if (!id) return undefined;
  if (type === 'comic-series') {
    const volume = await volumeOf(query, id);
    return volume && { values: seriesValues(volume), pictures: picturesOf(volume.image) };
  }
  const issue = (await issuesOf(query, id)).find((each) => Number(each.issue_number) === index);
  if (!issue) return undefined;
  const path = `/api/issue/4000-${issue.id}/`;
  const full = await query({ path, query: { ...JSON_ONLY, field_list: ISSUE }, schema: one(Issue) });
  return { values: issueValues(full?.results ?? issue), pictures: picturesOf(issue.image) };
}

const seriesValues = (volume: Volume): ItemValues =>
  known<ItemValues>({
    title: volume.name,
    overview: plain(volume.description) ?? volume.deck,
    year: yearOf(volume.start_year),
    publisher: volume.publisher?.name,
    externalIds: { comicvine: String(volume.id) },
  });

const issueValues = (issue: Issue): ItemValues =>
  known<ItemValues>({
    title: issue.name,
    overview: plain(issue.description) ?? issue.deck,
    year: yearOf(issue.cover_date),
    releasedOn: calendarDay(issue.store_date ?? issue.cover_date),
    people: credits(issue.person_credits.flatMap(creditsOf)),
    externalIds: { comicvineIssue: String(issue.id) },
  });

/** A person has several roles in one text, such as `penciler, inker`. */
const creditsOf = ({ id, name, role }: Issue['person_credits'][number]): NamedCredit[] =>
  (role ?? '').split(', ').flatMap((job) => {
    const drawn = /pencil|ink|art|color|cover/i.test(job);
    const found = drawn ? 'artist' : roleOf(job);
    return name && found !== 'other' ? [{ role: found, name, job, ids: { comicvine: String(id) } }] : [];
  });

const picturesOf = (image: z.output<typeof Image>): RemotePicture[] =>
  image?.original_url
    ? [known<RemotePicture>({ kind: 'poster', url: image.original_url, previewUrl: image.small_url })]
    : [];

async function children(query: Query, { type, ids }: Identity): Promise<KnownChild[]> {
  const id = type === 'comic-series' ? idOf(ids, 'comicvine', NUMBER) : undefined;
  const issues = id ? await issuesOf(query, id) : [];
  return issues.map((issue) => {
    const index = Number(issue.issue_number);
    return known<KnownChild>({
      type: 'comic',
      title: issue.name ?? `#${issue.issue_number ?? ''}`,
      index: Number.isInteger(index) ? index : undefined,
      releasedOn: calendarDay(issue.store_date ?? issue.cover_date),
      externalIds: { comicvineIssue: String(issue.id) },
      overview: issue.deck,
    });
  });
}

/** Faults come with status 200 and a number. */
const Fault = z.object({ status_code: z.int(), error: z.string() });

export const comicvine: Agent = {
  id: 'comicvine',
  name: 'Comic Vine',
  homepage: 'https://comicvine.gamespot.com/',
  provider: 'comicvine',
  itemTypes: ['comic-series', 'comic'],
  offers: ['identify', 'metadata', 'artwork', 'people', 'missing-children'],
  address: 'https://comicvine.gamespot.com',
  rate: { everyMs: 18_000, burst: 20 }, // 200 in an hour
  credentials: ({ 'comicvine.apiKey': key = '' }) => ({ query: { api_key: key } }),
  judge: ({ status, body }) => {
    const code = Fault.safeParse(body).data?.status_code;
    if (code === undefined || code === 1) return status === 420 ? 'rate-limited' : undefined;
    if (code === 100) return 'refused';
    if (code === 101) return 'none';
    return code === 107 ? 'rate-limited' : 'failed';
  },
  ping: { path: '/api/types/', query: JSON_ONLY, schema: z.object({ status_code: z.literal(1) }) },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
  children,
};

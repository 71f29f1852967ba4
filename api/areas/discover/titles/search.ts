// Titles by their name, or by an id, from every source.
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { readCursor, writeCursor } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { iso } from '#kernel/schemas.ts';
import { type ListedTitle, type Place, type TitleKind, titleKinds } from '#platform/agents/listed-title.ts';
import { similarity } from '#platform/agents/score.ts';
import { sha256 } from '#platform/keys.ts';
import type { Missing, SearchQuery } from '../discover.schemas.ts';
import type { DiscoverAnswer } from '../lists/list-page.ts';
import { placeOf, requireDiscover } from '../place.ts';
import { answers, attributionOf, type SourceState, type SourceStates, sourcesOf } from '../sources.ts';
import { allows, isLimited } from './ages.ts';
import { currentTitle, startOf } from './current.ts';
import { keptFacts, titlesKept } from './details.store.ts';
import { ageOf, type Reading, together } from './facts.ts';
import { itemsOfTitles } from './here.view.ts';
import { learnTitles, type NamedId, schemes } from './identity.store.ts';
import { itemsFound, worksFound, workTitle } from './inside.ts';
import { LIMIT_MS, type Means, type Outside, outsideProviders, type Question, searchAt } from './outside.ts';
import { keepSearch, keptSearch } from './searches.store.ts';
import { type Shown, toTitles } from './title.view.ts';

const A_MINUTE = 60;
const MOST = 100;
/** Titles without a known age that are read for a caller with a limit. */
const MOST_READ = 8;
/** Less time than this is none to read a title. */
const LEAST_MS = 500;
const NONE = '00000000-0000-0000-0000-000000000000';

/** The request, and the place whose titles it reads. */
interface At {
  call: Call;
  place: Place;
}

interface Found {
  titles: Shown[];
  states: SourceStates;
}

/** At most 100 titles, the best first. Throws 429. */
export async function searchTitles(call: Call, query: SearchQuery): Promise<DiscoverAnswer> {
  requireDiscover(call);
  const { redis, config } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `discover:${call.who.accountId}`, A_MINUTE);
  const place = await placeOf(call, query);
  const id = externalId(query.q);
  const { titles, states } = await (id ? byId({ call, place }, query, id) : byName(call, place, query));
  const shown = titles.filter(({ facts }) => query.year === undefined || facts.year === query.year).slice(0, MOST);
  const sources = await sourcesOf(call, states);
  const failed = sources.some(({ state }) => state === 'unavailable');
  const open = answers(sources, 'tmdb') || answers(sources, 'wikidata');
  const missing: Missing[] = failed || !open ? ['search-results'] : [];
  const members = {
    country: place.country,
    asOf: iso(call.now),
    sources,
    missing,
    attribution: attributionOf(sources),
  };
  return { ...(await pageOfFound({ call, place }, query, shown)), ...members };
}

async function pageOfFound({ call, place }: At, query: SearchQuery, shown: readonly Shown[]) {
  const { cursor, limit, ...rest } = query;
  const { keys } = call.deps;
  const scope = `searchDiscoverTitles|${call.who.accountId}|${call.who.profileId}|${JSON.stringify(rest)}`;
  const from = cursor === undefined ? 0 : Number(readCursor(keys, scope, cursor).values[0]);
  const hasMore = shown.length > from + limit;
  const next = hasMore ? writeCursor(keys, scope, { values: [from + limit], id: NONE }) : null;
  const items = await toTitles(call, place, shown.slice(from, from + limit));
  return { items, page: { cursor: next, hasMore, ...(from === 0 && { total: shown.length }) } };
}

const ID_FORMS: readonly (readonly [scheme: string, form: RegExp])[] = [
  ['imdb', /^(?:imdb:)?(tt\d{5,10})$/],
  ['wikidata', /^(?:wikidata:)?(Q\d{2,12})$/],
  ['tmdb', /^tmdb:(\d{1,12})$/],
  ['tvdb', /^tvdb:(\d{1,12})$/],
];

/** An id as somebody types it, such as `tt0113277` or `tmdb:949`, with the kind where it is written in front. */
function externalId(q: string): { scheme: string; value: string; kind?: TitleKind } | undefined {
  const [, kind, rest = ''] = /^(?:(movie|show):)?(.+)$/s.exec(q.trim()) ?? [];
  for (const [scheme, form] of ID_FORMS) {
    const value = form.exec(rest)?.[1];
    if (value !== undefined) return { scheme, value, ...(kind !== undefined && { kind: kind as TitleKind }) };
  }
  return undefined;
}

const meansOf = (call: Call, limitMs = LIMIT_MS): Means => ({
  catalogues: call.deps.catalogues,
  signal: call.signal,
  limitMs,
});

/** The title of an id, as a film or as a show. */
async function byId(
  { call, place }: At,
  query: SearchQuery,
  { scheme, value, kind }: NonNullable<ReturnType<typeof externalId>>,
): Promise<Found> {
  const kinds = titleKinds.filter((one) => (kind ?? query.kind ?? one) === one);
  const found: Found = { titles: [], states: {} };
  for (const one of kinds) {
    const current = await known(call, place, { kind: one, scheme, value });
    if (current === 'failed') found.states = { tmdb: { state: 'unavailable' }, wikidata: { state: 'unavailable' } };
    if (typeof current !== 'object') continue;
    found.titles.push({ id: current.id, facts: current.facts });
    found.states = current.states;
  }
  return { ...found, titles: await allowed({ call, place }, found.titles) };
}

/** Undefined for an unknown title; `failed` where no provider answers. */
async function known(call: Call, place: Place, named: NamedId) {
  try {
    return await currentTitle(call, { means: meansOf(call), place }, await startOf(call, named));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.code === 'NOT_FOUND' ? undefined : ('failed' as const);
  }
}

async function byName(call: Call, place: Place, query: SearchQuery): Promise<Found> {
  const began = Date.now();
  const kinds = titleKinds.filter((kind) => (query.kind ?? kind) === kind);
  const question: Question = { q: query.q.trim(), kinds, year: query.year };
  const [inside, outside] = await Promise.all([
    readInside(call, place, question),
    Promise.all(outsideProviders.map((one) => readOutside({ call, place }, one, question))),
  ]);
  const readings = [...inside, ...outside.flatMap((one) => one.readings)].filter(({ title }) =>
    kinds.includes(title.kind),
  );
  const titles = await merged({ call, place }, readings, question.q);
  const left = LIMIT_MS - (Date.now() - began);
  const states = Object.fromEntries(outside.flatMap(({ provider, state }) => (state ? [[provider, state]] : [])));
  return { titles: await allowed({ call, place }, titles, left), states };
}

/** Items, works of packs, and titles that were read before. */
async function readInside(call: Call, place: Place, { q, kinds }: Question): Promise<Reading[]> {
  const [items, works, kept] = await Promise.all([
    itemsFound(call, q),
    worksFound(call.db, kinds, q),
    titlesKept(call.db, place, q),
  ]);
  return [
    ...items.map(({ title }): Reading => ({ provider: 'local', title })),
    ...works.map((work): Reading => ({ provider: 'spine', title: workTitle(work, place.country) })),
    ...kept.map((title): Reading => ({ provider: 'tmdb', title })),
  ];
}

interface ReadOutside {
  provider: Outside;
  readings: Reading[];
  /** Absent for a closed provider. */
  state?: SourceState;
}

async function readOutside({ call, place }: At, provider: Outside, question: Question): Promise<ReadOutside> {
  const name = sha256(JSON.stringify([place, question.q.toLowerCase(), question.kinds, question.year ?? null]));
  const kept = await keptSearch(call.db, name, provider);
  const readings = (titles: readonly ListedTitle[]): Reading[] => titles.map((title) => ({ provider, title }));
  if (kept?.fresh) return { provider, readings: readings(kept.found), state: { state: 'ok', asOf: kept.asOf } };
  const reply = await searchAt({ means: meansOf(call), place }, provider, question);
  if (reply.outcome === 'found') {
    await keepSearch(call.db, { question: name, provider }, reply.found);
    return { provider, readings: readings(reply.found), state: { state: 'ok', asOf: iso(call.now) } };
  }
  if (kept && reply.outcome === 'failed')
    return { provider, readings: readings(kept.found), state: { state: 'stale', asOf: kept.asOf } };
  return { provider, readings: [], ...(reply.outcome === 'failed' && { state: { state: 'unavailable' as const } }) };
}

/** One entry for each title, the best first. */
async function merged({ call, place }: At, readings: readonly Reading[], q: string): Promise<Shown[]> {
  const learned = readings.map(({ provider, title }) => ({
    title,
    ageYears: provider === 'local' ? null : ageOf(title, place.country),
    posterFrom: provider,
  }));
  const rows = await learnTitles(call.db, learned);
  const byRow = new Map<string, Reading[]>();
  readings.forEach((reading, at) => {
    const id = rows[at] ?? '';
    byRow.set(id, [...(byRow.get(id) ?? []), reading]);
  });
  const scored = [...byRow].flatMap(([id, all]) => {
    const facts = together(all);
    return facts
      ? [{ id, facts, score: scoreOf(facts, q) + (all.some(({ provider }) => provider === 'local') ? 0.05 : 0) }]
      : [];
  });
  return scored.sort((a, b) => b.score - a.score).slice(0, MOST);
}

/** Likeness of the name; between equally alike titles the better known comes first. */
function scoreOf({ title, originalTitle, popularity = 0 }: ListedTitle, q: string): number {
  const likeness = Math.max(similarity(title, q), similarity(originalTitle ?? '', q));
  return likeness + Math.min(0.04, Math.log10(1 + popularity) / 100);
}

/** Without titles that the caller may not see. Ages that a search lacks are read, of the best ones. */
async function allowed({ call, place }: At, titles: readonly Shown[], leftMs = LIMIT_MS): Promise<Shown[]> {
  const { sees } = call.who;
  if (!isLimited(sees)) return [...titles];
  const ids = titles.map(({ id }) => id);
  const [here, kept] = await Promise.all([itemsOfTitles(call, ids), keptFacts(call.db, ids, place)]);
  const isUnknown = ({ id, facts }: Shown): boolean => !here.has(id) && !kept.has(id) && facts.ageRating === undefined;
  const read = new Set(leftMs > LEAST_MS ? titles.filter(isUnknown).slice(0, MOST_READ) : []);
  const judged = await Promise.all(
    titles.map(async (one) => {
      if (here.has(one.id)) return [one];
      const more = kept.get(one.id) ?? (read.has(one) ? await readFacts({ call, place }, one, leftMs) : undefined);
      const facts = { ...one.facts, ...more };
      return allows(sees, facts, place.country) ? [{ ...one, facts }] : [];
    }),
  );
  return judged.flat();
}

async function readFacts({ call, place }: At, { facts }: Shown, limitMs: number): Promise<ListedTitle | undefined> {
  const scheme = schemes.find((one) => facts.ids[one] !== undefined && one !== 'item');
  const value = scheme && facts.ids[scheme];
  if (scheme === undefined || value === undefined) return undefined;
  try {
    const start = await startOf(call, { kind: facts.kind, scheme, value });
    return (await currentTitle(call, { means: meansOf(call, limitMs), place }, start)).facts;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

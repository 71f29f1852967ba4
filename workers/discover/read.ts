// What the providers list for one country and language.
import { cinemaDays, dayAfter, discDays, type Reading } from '#areas/discover/public.ts';
import type { Agent, Query } from '#platform/agents/agent.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { agentOf } from '#platform/agents/index.ts';
import type { Days, Place, TitleKind } from '#platform/agents/listed-title.ts';
import { filmsReleased, titlesStreamed, tmdbServices, tmdbTitle } from '#platform/agents/tmdb/listed.ts';
import { filmsReleasedIn, titlesListed, wikidataQueries, wikidataTitles } from '#platform/agents/wikidata/listed.ts';
import type { Work } from '../work.ts';

/** For all requests of one place, with the waits for the agent's turn. */
const LIMIT_MS = 30 * 60_000;
const AT_ONCE = 4;
const AT_ONCE_ENTITIES = 50;
const LISTED_DAYS = 400;

/** Pages of 20 titles. */
const PAGES = { cinemas: 4, discs: 3, streaming: 5 };

export interface ReadMeans {
  work: Work;
  catalogues: Catalogues;
  place: Place;
  now: Date;
}

export interface SourceRead {
  /** Closed by settings or without its key. */
  state: 'ok' | 'unavailable' | 'closed';
  titles: Reading[];
  services: { id: string; name: string }[];
}

/** Runs requests of one agent. Titles that were read before a failure count. */
async function readFrom(
  { work, catalogues }: ReadMeans,
  agent: Agent,
  read: (query: Query, into: SourceRead) => Promise<void>,
): Promise<SourceRead> {
  const into: SourceRead = { state: 'ok', titles: [], services: [] };
  if (await catalogues.closedFor(agent)) return { ...into, state: 'closed' };
  try {
    await read(catalogues.queryOf(agent, { signal: work.signal, limitMs: LIMIT_MS, fresh: true }), into);
    return into;
  } catch (error) {
    if (!(error instanceof CatalogueFault)) throw error;
    work.log.warn({ agent: agent.id, reason: error.reason }, 'the lists of a catalogue were not read');
    return { ...into, state: 'unavailable' };
  }
}

/** Films in cinemas and on disc, and titles that services offer. */
export const readTmdb = (means: ReadMeans): Promise<SourceRead> =>
  readFrom(means, agentOf('tmdb'), async (query, into) => {
    const { place } = means;
    into.services.push(...(await tmdbServices(query, place.country)));
    const wanted = await tmdbNumbers(query, means);
    for (let at = 0; at < wanted.length; at += AT_ONCE) {
      means.work.signal.throwIfAborted();
      const some = await Promise.all(wanted.slice(at, at + AT_ONCE).map((one) => titleOrNone(query, place, one)));
      into.titles.push(...some.flat());
    }
  });

interface TmdbNumber {
  kind: TitleKind;
  id: string;
}

async function tmdbNumbers(query: Query, { place, now }: ReadMeans): Promise<TmdbNumber[]> {
  const [cinemas, discs] = [cinemaDays(now), discDays(now)];
  const films = [
    { types: [2, 3], days: cinemas.now, pages: PAGES.cinemas },
    { types: [2, 3], days: cinemas.upcoming, pages: PAGES.cinemas },
    { types: [5], days: discs.new, pages: PAGES.discs },
    { types: [5], days: discs.upcoming, pages: PAGES.discs },
  ];
  const found: TmdbNumber[] = [];
  const add = (kind: TitleKind, all: readonly { id: number }[]): void =>
    void found.push(...all.map(({ id }) => ({ kind, id: String(id) })));
  for (const one of films) add('movie', await filmsReleased(query, place, one));
  for (const kind of ['movie', 'show'] as const)
    add(kind, await titlesStreamed(query, place, { kind, pages: PAGES.streaming }));
  return [...new Map(found.map((one) => [`${one.kind} ${one.id}`, one])).values()];
}

/** One record of another shape is left out. */
async function titleOrNone(query: Query, place: Place, one: TmdbNumber): Promise<Reading[]> {
  try {
    const title = await tmdbTitle(query, place, one);
    return title ? [{ provider: 'tmdb', title }] : [];
  } catch (error) {
    if (error instanceof CatalogueFault && error.reason === 'invalid-answer') return [];
    throw error;
  }
}

/** Films with a release in the country, and titles that services list. */
export async function readWikidata(means: ReadMeans, days: Days): Promise<SourceRead> {
  const { place, now } = means;
  const ids: string[] = [];
  const listed = await readFrom(means, wikidataQueries, async (query) => {
    ids.push(...(await filmsReleasedIn(query, place.country, days)));
    ids.push(...(await titlesListed(query, dayAfter(now, -LISTED_DAYS))));
  });
  if (listed.state === 'closed' || ids.length === 0) return listed;
  const read = await readFrom(means, agentOf('wikidata'), async (query, into) => {
    const all = [...new Set(ids)];
    for (let at = 0; at < all.length; at += AT_ONCE_ENTITIES) {
      const titles = await wikidataTitles(query, place, all.slice(at, at + AT_ONCE_ENTITIES));
      into.titles.push(...titles.map((title): Reading => ({ provider: 'wikidata', title })));
    }
  });
  return listed.state === 'ok' ? read : { ...read, state: listed.state };
}

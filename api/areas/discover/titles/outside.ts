// Reads titles from the providers outside of the server.
import type { Agent, Query } from '#platform/agents/agent.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { agentOf } from '#platform/agents/index.ts';
import type { ListedTitle, Place, TitleKind } from '#platform/agents/listed-title.ts';
import { titlesFound, tmdbIdOf, tmdbOffers, tmdbTitle } from '#platform/agents/tmdb/listed.ts';
import { wikidataIdOf, wikidataIdsFound, wikidataTitles } from '#platform/agents/wikidata/listed.ts';
import type { Reading } from './facts.ts';
import type { Ids } from './identity.store.ts';

/** Time that a person waits for providers. */
export const LIMIT_MS = 3000;

export interface Means {
  catalogues: Catalogues;
  signal: AbortSignal;
  limitMs?: number;
}

export type Outside = 'tmdb' | 'wikidata';
export const outsideProviders = ['tmdb', 'wikidata'] as const satisfies readonly Outside[];

/** What a provider answered: titles, perhaps none; or that it is closed by settings and keys; or that it failed. */
export type Reply<T> = { outcome: 'found'; found: T } | { outcome: 'closed' } | { outcome: 'failed' };

/** Runs requests of one provider. Answers are stored by the caller, so that the cache of catalogues is passed by. */
export async function replyOf<T>(
  { catalogues, signal, limitMs = LIMIT_MS }: Means,
  agent: Agent,
  work: (query: Query) => Promise<T>,
): Promise<Reply<T>> {
  if (await catalogues.closedFor(agent)) return { outcome: 'closed' };
  try {
    return { outcome: 'found', found: await work(catalogues.queryOf(agent, { signal, limitMs, fresh: true })) };
  } catch (error) {
    if (error instanceof CatalogueFault || (error as Error).name === 'ZodError' || error instanceof SyntaxError)
      return { outcome: 'failed' };
    throw error;
  }
}

export interface Named {
  kind: TitleKind;
  ids: Ids;
}

/** A title by its ids at one provider; an empty list for one that it does not have. */
export const readTitle = (
  { means, place }: { means: Means; place: Place },
  provider: Outside,
  named: Named,
): Promise<Reply<Reading[]>> =>
  replyOf(means, agentOf(provider), async (query) => {
    const title = await (provider === 'tmdb' ? fromTmdb : fromWikidata)(query, place, named);
    return title ? [{ provider, title }] : [];
  });

async function fromTmdb(query: Query, place: Place, { kind, ids }: Named): Promise<ListedTitle | undefined> {
  const id = await tmdbIdOf(query, kind, ids);
  return id === undefined ? undefined : tmdbTitle(query, place, { kind, id });
}

async function fromWikidata(query: Query, place: Place, { kind, ids }: Named): Promise<ListedTitle | undefined> {
  const id = await wikidataIdOf(query, kind, ids);
  const [title] = id === undefined ? [] : await wikidataTitles(query, place, [id]);
  return title?.kind === kind ? title : undefined;
}

/** Present offers of a title by TMDB; undefined for a title that it does not have. */
export const readOffers = (means: Means, { country }: Place, { kind, ids }: Named) =>
  replyOf(means, agentOf('tmdb'), async (query) => {
    const id = await tmdbIdOf(query, kind, ids);
    return id === undefined ? undefined : tmdbOffers(query, country, { kind, id });
  });

export interface Question {
  q: string;
  kinds: readonly TitleKind[];
  year: number | undefined;
}

/** Titles with such a name at one provider. */
export const searchAt = (
  { means, place }: { means: Means; place: Place },
  provider: Outside,
  question: Question,
): Promise<Reply<ListedTitle[]>> =>
  replyOf(means, agentOf(provider), async (query) => {
    const { q, kinds, year } = question;
    if (provider === 'wikidata') return wikidataTitles(query, place, await wikidataIdsFound(query, place, q));
    const found = await Promise.all(kinds.map((kind) => titlesFound(query, place, { q, kind, year })));
    return found.flat();
  });

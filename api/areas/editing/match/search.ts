import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { agentsByDefault, refreshedItem } from '#areas/libraries/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import type { Wanted } from '#platform/agents/agent.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { known } from '#platform/agents/parts.ts';
import { ranked, type Scored } from '#platform/agents/score.ts';
import { describesType, type Source, sourceOf } from '#platform/agents/sources.ts';
import { newId } from '#platform/ids.ts';
import { keepCandidates } from './candidates.ts';
import { externalIdOf } from './external-id.ts';
import { readMatch } from './item-match.ts';
import type { Candidate, Matches, MatchQuery } from './match.schemas.ts';
import { findSame } from './same.view.ts';

const LIMIT_MS = 8000;
const A_MINUTE = 20;
const MOST = 50;

type Offered = Scored & { agent: Source };

/** Queries the identifying agents of the item's library together. Throws 429, and 502 when none answers. */
export async function searchMatches(call: Call, id: string, query: MatchQuery): Promise<Matches> {
  const item = await getVisibleItem(call.db, call.who, id);
  const { redis, config } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `matches:${call.who.accountId}`, A_MINUTE);
  const queried = await agentsOf(call, item, query.agent);
  const wanted = await wantedFor(call, item, query);
  const failed: Matches['failed'] = [];
  const found = await Promise.all(
    queried.map((agent) => searchIn(agent, wanted).catch((error: unknown) => noteFailed(failed, agent, error))),
  );
  if (queried.length === failed.length)
    throw new ApiError('PROVIDER_UNAVAILABLE', 'No catalogue answers', {
      reason: queried.length === 0 ? 'no-agent' : 'failed',
      failed,
    });
  const best = found
    .flat()
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST);
  const match = await readMatch(call, item);
  const items = await toCandidates(call, item, { best, current: match.externalIds });
  await keepCandidates(redis, item.id, items);
  return { match, items, failed };
}

function noteFailed(failed: Matches['failed'], agent: Source, error: unknown): Offered[] {
  if (!(error instanceof CatalogueFault)) throw error;
  failed.push({ agent: agent.id, reason: error.reason });
  return [];
}

/** Agents of the library that identify such items. Throws 400 for an agent that is not one of them. */
async function agentsOf(call: Call, item: VisibleItem, only: string | undefined): Promise<Source[]> {
  const { librarySettings, libraryType, type } = item;
  const chosen = (librarySettings['agents'] as string[] | undefined) ?? agentsByDefault(libraryType, () => true);
  const patience = { signal: call.signal, limitMs: LIMIT_MS };
  const means = { db: call.db, catalogues: call.deps.catalogues, patience };
  const all: Source[] = [];
  for (const id of chosen.filter((one) => describesType(one, type))) {
    const source = await sourceOf(id, means);
    if (source?.identify) all.push(source);
  }
  if (only === undefined) return all;
  const named = all.filter(({ id }) => id === only);
  if (named.length === 0) throw invalid(['query', 'agent'], 'unknown_agent', 'the library has no such agent');
  return named;
}

async function wantedFor({ deps: { db, settings } }: Call, item: VisibleItem, query: MatchQuery): Promise<Wanted> {
  const own = (await refreshedItem({ db, settings }, item.id))?.wanted;
  if (!own) throw notFound();
  const { q, externalId, language } = query;
  const isNamed = q !== undefined;
  const { year: ownYear, ...wanted } = { ...own, ...(isNamed && { title: q }), ...(language && { language }) };
  const year = query.year ?? (isNamed ? undefined : ownYear);
  const ids = externalId === undefined ? (isNamed ? {} : own.ids) : externalIdOf(externalId);
  return { ...wanted, ids, ...(year !== undefined && { year }) };
}

async function searchIn(agent: Source, wanted: Wanted): Promise<Offered[]> {
  const found = (await agent.identify?.(wanted)) ?? [];
  const isByOwnId = agent.provider !== undefined && wanted.ids[agent.provider] !== undefined;
  // The name may be another title than the present identity.
  const others = isByOwnId && found.length > 0 ? await agent.identify?.({ ...wanted, ids: {} }) : [];
  const known = new Set(found.map(({ ids }) => JSON.stringify(ids)));
  const all = [...found, ...(others ?? []).filter(({ ids }) => !known.has(JSON.stringify(ids)))];
  return ranked(wanted, all).map((one) => ({ ...one, agent }));
}

interface Ranking {
  best: readonly Offered[];
  current: Readonly<Record<string, string>>;
}

async function toCandidates({ db }: Call, item: VisibleItem, { best, current }: Ranking): Promise<Candidate[]> {
  const same = await findSame(
    db,
    item,
    best.map(({ found }) => found.ids),
  );
  return best.map(({ found, score, because, agent }, at) => {
    const { ids, originalTitle, year, releasedOn, overview, childCounts } = found;
    const already = same[at];
    const own = agent.provider === undefined ? undefined : ids[agent.provider];
    return known<Candidate>({
      ...{ id: newId(), agent: agent.id, externalIds: ids, type: item.type, title: found.title, score },
      ...{ originalTitle, year, releasedOn, overview: overview?.slice(0, 2000), childCounts },
      because,
      current: own !== undefined && current[agent.provider ?? ''] === own,
      alreadyItemId: already,
    });
  });
}

import type { z } from 'zod';
import type { VisibleItem } from '#areas/items/public.ts';
import { identityOf, refreshedItem } from '#areas/libraries/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { type Agent, isCatalogue, type RemotePicture } from '#platform/agents/agent.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { agentOf } from '#platform/agents/index.ts';
import { newId } from '#platform/ids.ts';
import type { Redis } from '#platform/redis.ts';
import type { ArtworkCandidate, Candidates, CandidatesQuery } from './artwork.schemas.ts';
import { type ArtworkKind, fittingKind } from './kinds.ts';

const A_MINUTE = 20;
const LIMIT_MS = 8000;
const MOST = 300;
const HOUR_SEC = 3600;

/** A picture of a catalogue that `candidateId` names, for an hour. */
export interface KeptCandidate {
  itemId: string;
  kind: ArtworkKind;
  agent: string;
  url: string;
  previewUrl: string;
  language?: string;
}

type Offered = RemotePicture & { agent: string; fits: ArtworkKind };
type Found = z.output<typeof Candidates>;

/**
 * Pictures that the agents of the item's library offer, by its external ids. Throws 409 `not-matched` for an item that no
 * agent can name, 502 when none answers.
 */
export async function findCandidates(
  call: Call,
  item: VisibleItem,
  query: z.output<typeof CandidatesQuery>,
): Promise<Found> {
  const { redis, config, db, settings } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `artwork-candidates:${call.who.accountId}`, A_MINUTE);
  const refreshed = await refreshedItem({ db, settings }, item.id);
  if (!refreshed) throw notFound();
  if (Object.keys(refreshed.wanted.ids).length === 0) throw conflict('not-matched', 'No agent knows this item');
  const agents = agentsOf(refreshed, query.agent);
  const failed: Found['failed'] = [];
  const identity = identityOf(refreshed, refreshed.wanted.ids);
  const found = await Promise.all(
    agents.map(async (agent): Promise<Offered[]> => {
      try {
        return fitting(item, agent, await picturesOf(call, agent, identity));
      } catch (error) {
        if (!(error instanceof CatalogueFault)) throw error;
        failed.push({ agent: agent.id, reason: error.reason });
        return [];
      }
    }),
  );
  if (agents.length === failed.length)
    throw new ApiError('PROVIDER_UNAVAILABLE', 'No agent of this library offers artwork', {
      reason: agents.length === 0 ? 'no-agent' : 'failed',
      failed,
    });
  const wanted = found.flat().filter((one) => isWanted(one, query));
  return { items: await keep(call, item.id, wanted.slice(0, MOST)), failed };
}

/** Agents of the library with pictures of such items. */
function agentsOf({ agents, type }: { agents: readonly string[]; type: string }, only: string | undefined): Agent[] {
  return agents
    .filter((id) => isCatalogue(id) && (only === undefined || id === only))
    .map((id) => agentOf(id as Agent['id']))
    .filter(({ offers, itemTypes }) => offers.includes('artwork') && itemTypes.includes(type));
}

async function picturesOf(
  { deps, signal }: Call,
  agent: Agent,
  identity: Parameters<NonNullable<Agent['artwork']>>[1],
): Promise<RemotePicture[]> {
  const query = deps.catalogues.queryOf(agent, { signal, limitMs: LIMIT_MS });
  if (agent.artwork) return agent.artwork(query, identity);
  return (await agent.describe?.(query, identity))?.pictures ?? [];
}

const fitting = ({ type }: VisibleItem, { id }: Agent, pictures: readonly RemotePicture[]): Offered[] =>
  pictures.flatMap((one) => {
    const fits = fittingKind(type, one.kind);
    return fits ? [{ ...one, agent: id, fits }] : [];
  });

function isWanted({ fits, language: of }: Offered, { kind, language }: z.output<typeof CandidatesQuery>): boolean {
  if (kind && !kind.includes(fits)) return false;
  if (language === undefined || language === 'all') return true;
  return language === 'none' ? of === undefined : of === language.split('-')[0];
}

const nameOf = (id: string): string => `artwork:candidate:${id}`;

async function keep(
  { deps: { redis, db } }: Call,
  itemId: string,
  offered: readonly Offered[],
): Promise<ArtworkCandidate[]> {
  const urls = offered.map(({ url }) => url);
  const known = await db('images')
    .where({ owner_kind: 'item', owner_id: itemId, discarded: false, expires_at: null })
    .whereRaw('source_url = any(?::text[])', [urls])
    .pluck('source_url');
  const pipeline = redis.pipeline();
  const items = offered.map((one): ArtworkCandidate => {
    const { url, previewUrl = url, agent, fits, width, height, language, score, votes } = one;
    const id = newId();
    const kept: KeptCandidate = {
      itemId,
      kind: fits,
      agent,
      url,
      previewUrl,
      ...(language !== undefined && { language }),
    };
    pipeline.set(nameOf(id), JSON.stringify(kept), 'EX', HOUR_SEC);
    return {
      ...{ id, kind: fits, agent, previewUrl: `/api/v1/images/${id}`, kept: known.includes(url) },
      ...(width !== undefined && { width: Math.round(width) }),
      ...(height !== undefined && { height: Math.round(height) }),
      ...(language !== undefined && { language }),
      ...(score !== undefined && { rating: score }),
      ...(votes !== undefined && { votes: Math.round(votes) }),
    };
  });
  await pipeline.exec();
  return items;
}

/** A candidate; undefined after an hour. */
export async function keptCandidate(redis: Redis, id: string): Promise<KeptCandidate | undefined> {
  const text = await redis.get(nameOf(id)).catch(() => null);
  return text === null ? undefined : (JSON.parse(text) as KeptCandidate);
}

// Candidates of a search, which live an hour.
import type { Redis } from '#platform/redis.ts';
import type { Candidate } from './match.schemas.ts';

const HOUR_SEC = 3600;
const nameOf = (itemId: string, id: string): string => `match:${itemId}:${id}`;

type Kept = Pick<Candidate, 'agent' | 'externalIds' | 'score'>;

export async function keepCandidates(redis: Redis, itemId: string, candidates: readonly Candidate[]): Promise<void> {
  const pipeline = redis.pipeline();
  for (const { id, agent, externalIds, score } of candidates) {
    const kept: Kept = { agent, externalIds, score };
    pipeline.set(nameOf(itemId, id), JSON.stringify(kept), 'EX', HOUR_SEC);
  }
  await pipeline.exec().catch(() => null); // without Redis a candidate is chosen by its ids
}

/** A candidate of the item; undefined after an hour. */
export async function keptCandidate(redis: Redis, itemId: string, id: string): Promise<Kept | undefined> {
  const text = await redis.get(nameOf(itemId, id)).catch(() => null);
  return text === null ? undefined : (JSON.parse(text) as Kept);
}

import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { known } from '#platform/agents/parts.ts';
import type { ItemMatch } from './match.schemas.ts';
import { findMatch, type MatchRow } from './matches.store.ts';

/** The identity of an item in catalogues, and the refresh that will read it again. */
export async function readMatch({ db }: Pick<Call, 'db'>, { id }: Pick<VisibleItem, 'id'>): Promise<ItemMatch> {
  const match = await findMatch(db, id);
  const item = await db('items').where({ id }).first('external_ids');
  const job = await db('jobs')
    .where({ kind: 'metadata.refresh' })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .whereRaw(`target ->> 'id' = ?`, [id])
    .orderBy('created_at', 'desc')
    .first('id');
  return known<ItemMatch>({
    ...{ itemId: id, ...identityOf(match), jobId: job?.id },
    externalIds: (item?.external_ids ?? {}) as Record<string, string>,
  });
}

function identityOf(match: MatchRow | undefined): Omit<ItemMatch, 'itemId' | 'externalIds'> {
  if (!match) return { state: 'unmatched' };
  const { state, agent, matched_at: at, matched_by: by, confidence } = match;
  const identity = { agent: agent ?? undefined, matchedBy: by ?? undefined, confidence: confidence ?? undefined };
  return known<Omit<ItemMatch, 'itemId' | 'externalIds'>>({ state, ...identity, matchedAt: at ? iso(at) : undefined });
}

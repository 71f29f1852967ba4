import { z } from 'zod';
import { listToCompare, storeNeighbours } from '#areas/items/relations/resembling.store.ts';
import type { Handler } from './work.ts';

const Checkpoint = z.object({ after: z.uuid() });
const BATCH = 100;

/** Stores the neighbours of one item, of a library, or nightly of changed items; resumes from its checkpoint. */
export const storeSimilarItems: Handler<'items.similar'> = async ({ itemId, libraryId }, work) => {
  if (itemId !== undefined) {
    await storeNeighbours(work.db, itemId);
    return { compared: 1 };
  }
  let after = Checkpoint.safeParse(work.checkpoint).data?.after;
  let compared = 0;
  for (;;) {
    const ids = await listToCompare(work.db, { libraryId, after, limit: BATCH });
    for (const id of ids) {
      work.signal.throwIfAborted();
      await storeNeighbours(work.db, id);
      compared += 1;
    }
    after = ids.at(-1);
    if (after === undefined) return { compared };
    await work.keep(work.db, { after }, { done: compared, unit: 'items' });
  }
};

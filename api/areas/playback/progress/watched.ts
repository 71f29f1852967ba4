import { getVisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { leavesOf, markLeaves, unmarkLeaves } from './progress.store.ts';
import { emitState } from './state-event.ts';

const MOST_AT_ONCE = 20_000;

/** Marks or unmarks an item, or all children of a container. False when a job does it, above 20,000 children. */
export async function setWatched(
  call: Call,
  itemId: string,
  { watched, at, countPlay }: { watched: boolean; at: Date; countPlay: boolean },
): Promise<boolean> {
  const { db, who, enqueue } = call;
  const { profileId } = who;
  await getVisibleItem(db, who, itemId);
  const leaves = await leavesOf(db, who, { itemId, most: MOST_AT_ONCE });
  if (leaves.length > MOST_AT_ONCE) {
    await enqueue('playback.mark', { profileId, itemId, watched, at: at.toISOString(), countPlay });
    return false;
  }
  if (watched) await markLeaves(db, { profileId, leaves, at, countPlay });
  else await unmarkLeaves(db, { profileId, leaves, at });
  await emitState(call, { what: ['watched', 'progress'], itemIds: [itemId, ...leaves] });
  return true;
}

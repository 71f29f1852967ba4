import type { Call } from '#kernel/endpoint.ts';
import { pictureEvent, settleArtwork } from '../choosing.store.ts';

/** Events of one change: a show can have thousands of seasons that show its picture. */
const MOST_EVENTS = 100;

/** Writes what items show, after their images or choices changed, and emits `item.updated`. */
export async function settle(call: Call, itemIds: readonly string[]): Promise<void> {
  const changed = await settleArtwork(call.db, itemIds);
  for (const item of changed.slice(0, MOST_EVENTS)) {
    const { payload, facts } = pictureEvent(item);
    await call.emit('item.updated', payload, facts);
  }
}

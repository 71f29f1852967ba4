import type { Call } from '#kernel/endpoint.ts';
import type { Payload } from '#platform/events.ts';

export type What = Payload<'state.changed'>['what'][number];

/** The event names at most this many items. */
const MOST_ITEMS = 100;

export interface StateChange {
  what: readonly What[];
  /** Changed items, and containers whose children changed. */
  itemIds: readonly string[];
  /** The profile of the state, when another profile of the account reports it. */
  profileId?: string;
}

/** Notifies the other devices of the profile; nothing is sent when nothing changed. */
export async function emitState({ who, emit }: Call, { what, itemIds, profileId }: StateChange): Promise<void> {
  if (what.length === 0) return;
  const ids = [...new Set(itemIds)];
  await emit('state.changed', {
    profileId: profileId ?? who.profileId,
    what: [...new Set(what)],
    itemIds: ids.slice(0, MOST_ITEMS),
    truncated: ids.length > MOST_ITEMS,
    ...(who.deviceId && { deviceId: who.deviceId }),
  });
}

/** What a change of a rating changes. */
export const ratingChanges = (change: { value?: unknown; favorite?: unknown }): What[] => [
  ...(change.value === undefined ? [] : (['rating'] as const)),
  ...(change.favorite === undefined ? [] : (['favorite'] as const)),
];

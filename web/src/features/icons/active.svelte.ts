// The icons of the active set, read once the page has what it first needs: until then, and for the set that the app was drawn with, the
// inline icons stand.
import { QueryObserver } from '@tanstack/query-core';
import type { WholeIconSet } from 'foyer-client';
import { whenCalm } from '#core/cache/calm.ts';
import { query, queryClient } from '#core/cache/query.ts';

/** The set whose drawings the inline icons have. */
const INLINE = '01900000-0000-7000-8000-0000001c0001';

interface Shown {
  url: string;
  tintable: boolean;
}

let slots = $state.raw<ReadonlyMap<string, Shown>>(new Map());

export const activeSlots = {
  of: (slot: string): Shown | undefined => slots.get(slot),
};

function shownOf(set: WholeIconSet): ReadonlyMap<string, Shown> {
  if (set.id === INLINE) return new Map();
  const tintable = new Map(set.icons.map((icon) => [icon.id, icon.tintable]));
  const own = Object.entries(set.slots).filter(([, { from }]) => from !== 'built-in' || set.source === 'built-in');
  return new Map(
    own.map(([slot, { iconId, version }]) => [
      slot,
      { url: `/api/v1/icons/${iconId}/image?v=${version}`, tintable: tintable.get(iconId) ?? false },
    ]),
  );
}

/** Follows the active set while the shell is shown; the result ends it. */
export function followActiveSet(): () => void {
  let stop = (): void => undefined;
  const cancel = whenCalm(queryClient, () => {
    const observer = new QueryObserver(queryClient, query('getIconSet', { params: { id: 'active' } }));
    stop = observer.subscribe(({ data }) => {
      if (data) slots = shownOf(data);
    });
  });
  return () => {
    cancel();
    stop();
  };
}

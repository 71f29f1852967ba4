import type { ItemSummary, LibraryRow } from '#areas/items/public.ts';
import { isContainer } from '#platform/item-types.ts';
import type { HomeCard } from '../home.schemas.ts';
import { keyOf } from './cards.view.ts';

const NEW_MS = 7 * 86_400_000;

interface Look {
  target: HomeCard['target'];
  /** The row is one of new items. */
  isNew: boolean;
  now: Date;
}

/** The card of an item: a press plays what can be played at once, and opens the rest. */
export function cardOf(item: ItemSummary, look: Look): HomeCard {
  const { progress, watched } = item.userState;
  const type = item.baseType ?? item.type;
  const label = type === 'episode' ? placeOf(item) : undefined;
  return {
    item,
    ...opening(item, type, look.target),
    ...(label !== undefined && { label }),
    ...(progress > 0 && !watched && { progress }),
    ...(isNew(item, look) && { badge: 'new' as const }),
    hideKey: keyOf(item),
  };
}

function opening(item: ItemSummary, type: string, target: HomeCard['target']): Pick<HomeCard, 'target' | 'url'> {
  if (target !== 'play') return { target, url: `/item/${item.id}` };
  const plays = !isContainer(type) && !item.availability;
  return plays ? { target, url: `/play/${item.id}` } : { target: 'open', url: `/item/${item.id}` };
}

const isNew = ({ userState, addedAt }: ItemSummary, look: Look): boolean =>
  look.isNew && !userState.watched && look.now.getTime() - Date.parse(addedAt) < NEW_MS;

function placeOf({ parentIndex, index }: ItemSummary): string | undefined {
  if (index === undefined) return undefined;
  return parentIndex === undefined ? `E${index}` : `S${parentIndex} E${index}`;
}

export const libraryCard = ({ id, name }: LibraryRow): HomeCard => ({
  target: 'open',
  url: `/library/${id}`,
  label: name,
});

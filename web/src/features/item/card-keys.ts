// Keys of a card in a row: play it, mark it as watched or as a favourite.
import type { ItemSummary } from 'foyer-client';
import { pressOf } from '#features/library/grid-keys.ts';
import { setWatched, toggleFavorite } from './marks.ts';
import { play } from './play.ts';

/** Does what the key does in a grid; returns whether it did anything. */
export function cardKey(item: ItemSummary | undefined, event: KeyboardEvent): boolean {
  if (!item || event.ctrlKey || event.altKey || event.metaKey) return false;
  const action = pressOf(event);
  if (action === 'play') void play(item);
  else if (action === 'watched') void setWatched(item, !item.userState.watched);
  else if (action === 'favorite') void toggleFavorite(item);
  else return false;
  return true;
}

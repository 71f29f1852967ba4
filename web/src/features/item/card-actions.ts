// Cards of a list outside the grid: play, own marks and the menu, by key, pointer and long press.
import { followHover } from '#ui/hover.ts';
import type { MenuItem } from '#ui/menu.ts';
import { type CardItem, openCardMenu } from './card-menu.svelte.ts';
import { type CardAction, pressOf } from './card-press.ts';
import { setWatched, toggleFavorite } from './marks.ts';
import { play } from './play.ts';

interface Point {
  x: number;
  y: number;
}

interface Listed {
  /** The item of the card at this place of the list; undefined where the card is of something else. */
  itemAt: (at: number) => CardItem | undefined;
  /** Further entries of its menu. */
  more?: (at: number) => readonly MenuItem[];
}

/** An attachment to the element around cards of `ui/Card`, in the order of `itemAt`. */
export function cardActions({ itemAt, more }: Listed): (host: HTMLElement) => () => void {
  return (host) => {
    const indexOf = (card: Element | null): number =>
      card ? [...host.querySelectorAll('article')].indexOf(card as HTMLElement) : -1;
    const cardAt = (target: Element): HTMLElement | null => {
      const card = target.closest<HTMLElement>('article');
      return itemAt(indexOf(card)) ? card : null;
    };

    function open(item: CardItem, card: Element, at?: Point): void {
      card.querySelector('a')?.focus();
      openCardMenu({ item, at, more: more?.(indexOf(card)) ?? [] });
    }

    /** Returns whether the card has the action. */
    function act(action: CardAction, card: Element, at?: Point): boolean {
      const item = itemAt(indexOf(card));
      if (!item) return false;
      if (action === 'play') void play(item);
      else if (action === 'watched') void setWatched(item, !item.userState.watched);
      else if (action === 'favorite') void toggleFavorite(item);
      else if (action === 'menu') open(item, card, at);
      else return false;
      return true;
    }

    function press(event: KeyboardEvent): void {
      if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
      const card = (event.target as Element).closest('a') && cardAt(event.target as Element);
      const action = pressOf(event);
      if (card && action && act(action, card)) event.preventDefault();
    }

    const end = followHover(host, cardAt, act);
    host.addEventListener('keydown', press);
    return () => {
      end();
      host.removeEventListener('keydown', press);
    };
  };
}

// The one menu of cards: the card that it belongs to, and the point where it opens.
import type { MenuItem } from '#ui/menu.ts';
import type { Marked } from './marks.ts';

/** An item as its card knows it. */
export type CardItem = Marked & { type: string; baseType?: string | undefined };

interface Opened {
  item: CardItem;
  /** In the viewport, on wide pages. */
  at: { x: number; y: number } | undefined;
  /** Entries of the list that the card is in. */
  more: readonly MenuItem[];
}

let card = $state.raw<Opened>();
let open = $state(false);

export const cardMenu = {
  /** The card of the last menu. */
  get card(): Opened | undefined {
    return card;
  },
  get open(): boolean {
    return open;
  },
  set open(now: boolean) {
    open = now;
  },
};

/** Opens the menu of a card, which has the focus: the browser returns it there. */
export function openCardMenu(opened: Opened): void {
  card = opened;
  open = true;
}

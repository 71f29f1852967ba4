// What a card of Home says.
import type { HomeCard, HomeRow } from 'foyer-client';
import { baseOf } from '#core/types.ts';
import { lengthText } from '#features/item/words.ts';
import * as m from '#messages/home.ts';

type Shape = 'poster' | 'landscape' | 'square';

const SHAPES: Readonly<Record<HomeRow['style'], Shape>> = {
  ...{
    posters: 'poster',
    list: 'poster',
    landscape: 'landscape',
    hero: 'landscape',
    squares: 'square',
    photos: 'square',
  },
};

export const shapeOf = (style: HomeRow['style']): Shape => SHAPES[style];

export const idOf = ({ item, url }: HomeCard): string => item?.id ?? url;

/** Of an episode the show is the title, and its own name is part of the line. */
export const titleOf = ({ item, label }: HomeCard): string => item?.grandparentTitle ?? item?.title ?? label ?? '';

/** Milliseconds that are left of an item; 0 when its length is unknown or it was not begun. */
function leftOf({ item, progress }: HomeCard): number {
  if (!item || progress === undefined) return 0;
  return Math.max(0, (item.runtimeMs ?? 0) - item.userState.positionMs);
}

function placeOf({ item, label }: HomeCard): string {
  if (!item) return '';
  if (baseOf(item) === 'episode') return [label, item.title].filter(Boolean).join(' · ');
  return item.year === undefined ? '' : String(item.year);
}

export function lineOf(card: HomeCard): string {
  const left = leftOf(card);
  return left > 0 ? m.left({ time: lengthText(left), place: placeOf(card) }) : placeOf(card);
}

const isIn = (list: readonly HomeCard[], card: HomeCard): boolean => list.some((one) => idOf(one) === idOf(card));

/** How many cards of a row would push on the cards that were shown. Others follow at its end, as after one of them went. */
export function freshIn(now: readonly HomeCard[], shown: readonly HomeCard[]): number {
  const last = now.findLastIndex((card) => isIn(shown, card));
  return now.slice(0, last < 0 ? now.length : last).filter((card) => !isIn(shown, card)).length;
}

/** The cards that were shown, as they are now. A row has a limit: new ones push out those at its end, which stay until then. */
export function steady(shown: readonly HomeCard[], now: readonly HomeCard[]): HomeCard[] {
  const byId = new Map(now.map((card) => [idOf(card), card]));
  const last = shown.findLastIndex((card) => byId.has(idOf(card)));
  return shown.flatMap((card, at) => byId.get(idOf(card)) ?? (at > last ? card : []));
}

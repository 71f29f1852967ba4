// The scroll position of a list that is higher than a browser allows. The scroller is a window of at most 1,000,000 px
// over the list; `base` is the place of the list at the window's top.
import { heightOf, type Layout } from './grid.ts';

const WINDOW = 1_000_000;
/** The window moves when its scroller is nearer than this to one of its ends. */
const EDGE = 0.25;
/** Rows are kept for this many viewports above and below the visible ones. */
const AROUND = 1.5;
const MOST_CELLS = 400;

export interface Place {
  base: number;
  scrollTop: number;
}

export interface Range {
  first: number;
  last: number;
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

export const windowHeight = (height: number): number => Math.min(height, WINDOW);

/** The window with the place `top` of the list at the top of the viewport. */
export function placeAt(top: number, height: number, viewport: number): Place {
  const wanted = clamp(top, 0, Math.max(0, height - viewport));
  const base = clamp(Math.round(wanted - WINDOW / 2), 0, Math.max(0, height - WINDOW));
  return { base, scrollTop: wanted - base };
}

/** The same place in the middle of the window; undefined while the window's ends are far. */
export function recentred({ base, scrollTop }: Place, height: number, viewport: number): Place | undefined {
  const size = windowHeight(height);
  if (size === height) return undefined;
  const nearStart = scrollTop < size * EDGE && base > 0;
  const nearEnd = scrollTop + viewport > size * (1 - EDGE) && base + size < height;
  return nearStart || nearEnd ? placeAt(base + scrollTop, height, viewport) : undefined;
}

/** Rows in the viewport. */
export function visibleRows(top: number, viewport: number, { rowHeight, rows }: Layout): Range {
  const last = Math.max(0, rows - 1);
  return {
    first: clamp(Math.floor(top / rowHeight), 0, last),
    last: clamp(Math.ceil((top + viewport) / rowHeight) - 1, 0, last),
  };
}

/** Rows that have cells: the visible ones, and those around them. */
export function keptRows(top: number, viewport: number, layout: Layout): Range {
  const { first, last } = visibleRows(top, viewport, layout);
  const room = Math.max(0, Math.floor(MOST_CELLS / layout.columns) - (last - first + 1));
  const around = Math.min(Math.ceil((viewport * AROUND) / layout.rowHeight), Math.floor(room / 2));
  return { first: Math.max(0, first - around), last: Math.min(Math.max(0, layout.rows - 1), last + around) };
}

/** The scroll place nearest to `top` that shows the whole row. */
export function revealed(row: number, top: number, viewport: number, layout: Layout): number {
  const begin = row * layout.rowHeight;
  const end = begin + layout.cardHeight;
  if (begin < top) return begin;
  return end > top + viewport ? Math.min(begin, end - viewport) : top;
}

/** A row at the top of the viewport and how far it is scrolled out: what brings one back. */
export interface Anchor {
  index: number;
  offset: number;
}

export function anchorAt(top: number, layout: Layout): Anchor {
  const row = clamp(Math.floor(top / layout.rowHeight), 0, Math.max(0, layout.rows - 1));
  return { index: row * layout.columns, offset: Math.round(top - row * layout.rowHeight) };
}

export const topOf = ({ index, offset }: Anchor, layout: Layout): number =>
  clamp(Math.floor(index / layout.columns) * layout.rowHeight + offset, 0, heightOf(layout));

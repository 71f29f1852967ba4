// Arrow keys between things at any place of a page: which one is next in a direction.

export type Way = readonly [x: number, y: number];

export const ARROWS: Readonly<Record<string, Way>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

type Span = readonly [from: number, to: number];

const across = ({ left, width }: Box): Span => [left, left + width];
const down = ({ top, height }: Box): Span => [top, top + height];
const gap = (a: Span, b: Span): number => Math.max(0, b[0] - a[1], a[0] - b[1]);
const middle = ([from, to]: Span): number => (from + to) / 2;

/** The gap at the side of the arrow; 0 where the boxes overlap, such as those of one row. */
export const gapAcross = (from: Box, to: Box, [x]: Way): number =>
  x === 0 ? gap(across(from), across(to)) : gap(down(from), down(to));

/** The distance along the arrow, and three times the gap across it; a wide bar is above all that it covers. */
export function costOf(from: Box, to: Box, way: Way): number {
  const along = way[0] * (middle(across(to)) - middle(across(from))) + way[1] * (middle(down(to)) - middle(down(from)));
  return along > 4 ? along + 3 * gapAcross(from, to, way) : Number.POSITIVE_INFINITY;
}

/** The nearest one in a direction; undefined when none is there. */
export function nearest<T>(from: Box, candidates: Iterable<readonly [T, Box]>, way: Way): T | undefined {
  let best: { one: T; cost: number } | undefined;
  for (const [one, box] of candidates) {
    const cost = costOf(from, box, way);
    if (Number.isFinite(cost) && cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { one, cost };
  }
  return best?.one;
}

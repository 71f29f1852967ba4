// A part of a picture, in fractions of its sides, and how a pointer and sliders change it.

export interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export const edges = ['left', 'top', 'right', 'bottom'] as const;
export type Edge = (typeof edges)[number];

export const WHOLE: Part = { x: 0, y: 0, width: 1, height: 1 };
/** The smallest side of a part. */
const LEAST = 0.05;
const STEP = 1000;

const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);
/** Thousandths are fine enough for any picture, and compare equal. */
const rounded = (value: number): number => Math.round(value * STEP) / STEP;

export const inside = ({ x, y }: Point): Point => ({ x: rounded(within(x, 0, 1)), y: rounded(within(y, 0, 1)) });

export const isWhole = ({ x, y, width, height }: Part): boolean => x === 0 && y === 0 && width === 1 && height === 1;

export const edgeOf = ({ x, y, width, height }: Part, edge: Edge): number =>
  ({ left: x, top: y, right: rounded(x + width), bottom: rounded(y + height) })[edge];

/** The part with one edge in another place; the other edges stay. */
export function withEdge(part: Part, edge: Edge, at: number): Part {
  const { x, y } = part;
  const [right, bottom] = [edgeOf(part, 'right'), edgeOf(part, 'bottom')];
  if (edge === 'left') {
    const left = rounded(within(at, 0, right - LEAST));
    return { ...part, x: left, width: rounded(right - left) };
  }
  if (edge === 'top') {
    const top = rounded(within(at, 0, bottom - LEAST));
    return { ...part, y: top, height: rounded(bottom - top) };
  }
  if (edge === 'right') return { ...part, width: rounded(within(at, x + LEAST, 1) - x) };
  return { ...part, height: rounded(within(at, y + LEAST, 1) - y) };
}

/** What a press takes hold of: some edges, the whole part, or nothing, which begins a new part. */
export type Grab = readonly Edge[] | 'part' | 'new';

/** `reach` is how near an edge a press must be, by side. */
export function grabOf(part: Part, { x, y }: Point, reach: Point): Grab {
  const along = nearOf(x, [part.x, part.x + part.width], reach.x);
  const down = nearOf(y, [part.y, part.y + part.height], reach.y);
  if (along === 'outside' || down === 'outside') return 'new';
  const held: Edge[] = [];
  if (along !== 'inside') held.push(along === 'first' ? 'left' : 'right');
  if (down !== 'inside') held.push(down === 'first' ? 'top' : 'bottom');
  if (held.length > 0) return held;
  return isWhole(part) ? 'new' : 'part';
}

/** Where a place is on one side of the part. */
function nearOf(at: number, [first, last]: readonly [number, number], reach: number) {
  if (at <= first - reach || at >= last + reach) return 'outside';
  if (Math.abs(at - first) <= reach) return 'first';
  return Math.abs(at - last) <= reach ? 'last' : 'inside';
}

/** The part after a drag from one point to another. */
export function dragged(part: Part, grab: Grab, { from, to }: { from: Point; to: Point }): Part {
  if (grab === 'new') return between(inside(from), inside(to));
  if (grab === 'part')
    return {
      ...part,
      x: rounded(within(part.x + to.x - from.x, 0, 1 - part.width)),
      y: rounded(within(part.y + to.y - from.y, 0, 1 - part.height)),
    };
  return grab.reduce((now, edge) => withEdge(now, edge, edge === 'left' || edge === 'right' ? to.x : to.y), part);
}

function between(one: Point, other: Point): Part {
  const side = (a: number, b: number): [number, number] => {
    const length = Math.max(Math.abs(a - b), LEAST);
    return [rounded(Math.min(a, b, 1 - length)), rounded(length)];
  };
  const [x, width] = side(one.x, other.x);
  const [y, height] = side(one.y, other.y);
  return { x, y, width, height };
}

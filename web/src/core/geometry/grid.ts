// Where the cards of a grid are, from its width and their number alone.

export type Density = 'compact' | 'normal' | 'large';
export type Shape = 'poster' | 'landscape' | 'square';

export interface Spec {
  /** The least width of a card. */
  min: number;
  gap: number;
}

export interface Layout {
  count: number;
  columns: number;
  gap: number;
  cardWidth: number;
  cardHeight: number;
  /** From the top of one row to the top of the next. */
  rowHeight: number;
  rows: number;
}

/** The text under the art: 8 above it, a title of 20, a line of 18. */
export const LABEL_HEIGHT = 46;

const DENSITIES: Readonly<Record<Density, number>> = { compact: 0.8, normal: 1, large: 1.35 };
const RATIOS: Readonly<Record<Shape, number>> = { poster: 3 / 2, landscape: 9 / 16, square: 1 };
const SPECS: readonly [below: number, spec: Spec][] = [
  [600, { min: 104, gap: 8 }],
  [1024, { min: 116, gap: 12 }],
  [2200, { min: 148, gap: 16 }],
  [Number.POSITIVE_INFINITY, { min: 176, gap: 20 }],
];

export function specFor(windowWidth: number, density: Density = 'normal', shape: Shape = 'poster'): Spec {
  const { min, gap } = (SPECS.find(([below]) => windowWidth < below) ?? SPECS[0] ?? [0, { min: 104, gap: 8 }])[1];
  return { min: min * DENSITIES[density] * (shape === 'landscape' ? 2 : 1), gap };
}

/** A grid of cards in a region `width` wide. */
export function layoutOf(width: number, count: number, { min, gap }: Spec, shape: Shape = 'poster'): Layout {
  const columns = Math.max(1, Math.floor((width + gap) / (min + gap)));
  const cardWidth = (width - gap * (columns - 1)) / columns;
  const cardHeight = Math.round(cardWidth * RATIOS[shape]) + LABEL_HEIGHT;
  return { count, columns, gap, cardWidth, cardHeight, rowHeight: cardHeight + gap, rows: Math.ceil(count / columns) };
}

/** A list of lines of one height. */
export const linesOf = (width: number, count: number, height: number): Layout => ({
  ...{ count, columns: 1, gap: 0, cardWidth: width, cardHeight: height, rowHeight: height, rows: count },
});

export const rowOf = (index: number, { columns }: Layout): number => Math.floor(index / columns);
export const heightOf = ({ rows, rowHeight, gap }: Layout): number => Math.max(0, rows * rowHeight - gap);

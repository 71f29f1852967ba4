// Arrow keys in a grid: which item has the focus next.

export interface Field {
  count: number;
  columns: number;
  /** Rows of a page, for PageUp and PageDown. */
  page: number;
  /** The reading direction goes from right to left. */
  mirrored?: boolean;
}

/** The index of the next item; undefined when the key moves nothing here. */
export function moved(
  index: number,
  key: string,
  { count, columns, page, mirrored = false }: Field,
): number | undefined {
  if (count === 0) return undefined;
  const side = mirrored ? -1 : 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: side,
    ArrowLeft: -side,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: columns * page,
    PageUp: -columns * page,
  };
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const step = steps[key];
  if (isSideways(key) && leaves(index, step === 1, columns)) return undefined;
  return step === undefined ? undefined : landed(index, step, { count, columns });
}

const isSideways = (key: string): boolean => key === 'ArrowLeft' || key === 'ArrowRight';

/** Backwards from the first column, or to the side of a list of one column, the focus leaves. */
const leaves = (index: number, forward: boolean, columns: number): boolean =>
  columns === 1 || (!forward && index % columns === 0);

function landed(index: number, step: number, { count, columns }: Pick<Field, 'count' | 'columns'>): number | undefined {
  const next = index + step;
  if (next >= 0 && next < count) return next;
  if (Math.abs(step) < columns || columns === 1) return columns === 1 ? edge(index, step, count) : undefined;
  const lastRow = Math.floor((count - 1) / columns);
  const row = step > 0 ? lastRow : 0;
  const same = row * columns + (index % columns);
  const target = Math.min(same, count - 1);
  return Math.floor(index / columns) === row ? undefined : target;
}

const edge = (index: number, step: number, count: number): number | undefined => {
  const target = step > 0 ? count - 1 : 0;
  return target === index ? undefined : target;
};

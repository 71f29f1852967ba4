// Changes of the rows of Home.
import type { HomeLayoutRow, HomeRowKind } from 'foyer-client';

const SIZE = 20;

export function moved(rows: readonly HomeLayoutRow[], at: number, by: 1 | -1): HomeLayoutRow[] {
  const next = [...rows];
  const [row] = next.splice(at, 1);
  if (row) next.splice(at + by, 0, row);
  return next;
}

export const removed = (rows: readonly HomeLayoutRow[], at: number): HomeLayoutRow[] =>
  rows.filter((_, index) => index !== at);

/** With a row at the end; its id differs from those that are there. */
export function added(rows: readonly HomeLayoutRow[], kind: HomeRowKind): HomeLayoutRow[] {
  const ids = new Set(rows.map(({ rowId }) => rowId));
  let rowId: string = kind;
  for (let n = 2; ids.has(rowId); n += 1) rowId = `${kind}.${n}`;
  return [...rows, { rowId, kind, size: SIZE, hideWatched: false }];
}

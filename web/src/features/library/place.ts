// Where a grid was when the person left it.

export interface Place {
  /** The first item of the row at the top, and how far that row is scrolled out. */
  index: number;
  offset: number;
  /** The item that had the focus. */
  focus?: number;
}

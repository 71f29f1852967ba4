// Rows of cells in a scroller, made without Svelte: only the rows around the viewport exist, and they are recycled.
// Cells are painted by the page; a cell's first element is what gets the focus.
import { heightOf, type Layout, rowOf } from '#core/geometry/grid.ts';
import {
  type Anchor,
  anchorAt,
  keptRows,
  placeAt,
  type Range,
  recentred,
  revealed,
  topOf,
  visibleRows,
  windowHeight,
} from '#core/geometry/scroll.ts';

export interface Seen {
  /** Indexes of the visible items, the last one included. */
  visible: Range;
  /** Indexes of all items that have cells. */
  kept: Range;
  /** More than three rows passed in a frame. */
  fast: boolean;
}

export interface SurfaceHost {
  make(): HTMLElement;
  paint(cell: HTMLElement, index: number): void;
  moved(seen: Seen): void;
}

const IDLE_MS = 120;
const SETTLED_MS = 80;
const FAST_ROWS = 3;
const EMPTY: Layout = { count: 0, columns: 1, gap: 0, cardWidth: 1, cardHeight: 1, rowHeight: 1, rows: 0 };

export class Surface {
  readonly #scroller: HTMLElement;
  readonly #host: SurfaceHost;
  readonly #sizer = document.createElement('div');
  readonly #rows = new Map<number, HTMLElement>();
  readonly #free: HTMLElement[] = [];
  #layout = EMPTY;
  #base = 0;
  #lastTop = 0;
  #frame = 0;
  /** Rows in the viewport when cells were painted last. */
  #visible: Range = { first: 0, last: -1 };
  #timers: ReturnType<typeof setTimeout>[] = [];
  /** The item of the tab stop. */
  index = 0;

  constructor(scroller: HTMLElement, host: SurfaceHost) {
    this.#scroller = scroller;
    this.#host = host;
    this.#sizer.className = 'fy-sizer';
    this.#sizer.setAttribute('role', 'rowgroup');
    scroller.append(this.#sizer);
    scroller.addEventListener('scroll', this.#scrolled, { passive: true });
    scroller.addEventListener('focusin', this.#focused);
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#scroller.removeEventListener('scroll', this.#scrolled);
    this.#scroller.removeEventListener('focusin', this.#focused);
    this.#sizer.remove();
  }

  get top(): number {
    return this.#base + this.#scroller.scrollTop;
  }

  get anchor(): Anchor {
    return anchorAt(this.top, this.#layout);
  }

  get #viewport(): number {
    return this.#scroller.clientHeight;
  }

  /** Rows of the viewport, for keys. */
  get page(): number {
    return Math.max(1, Math.floor(this.#viewport / this.#layout.rowHeight));
  }

  /** Takes another layout; the item at the top stays there, unless another is given. */
  arrange(layout: Layout, anchor: Anchor = this.anchor): void {
    if (layout.columns !== this.#layout.columns) this.#discard();
    this.#layout = layout;
    this.#scroller.setAttribute('aria-rowcount', String(layout.rows));
    this.#scroller.setAttribute('aria-colcount', String(layout.columns));
    this.#sizer.style.setProperty('--columns', String(layout.columns));
    this.#sizer.style.setProperty('--gap', `${layout.gap}px`);
    this.#sizer.style.blockSize = `${windowHeight(heightOf(layout))}px`;
    this.index = Math.min(this.index, Math.max(0, layout.count - 1));
    this.goTo(topOf(anchor, layout));
    this.repaint();
  }

  goTo(top: number): void {
    const { base, scrollTop } = placeAt(top, heightOf(this.#layout), this.#viewport);
    this.#base = base;
    this.#scroller.scrollTop = scrollTop;
    this.#place();
  }

  /** An item at the top of the viewport. */
  goToIndex(index: number): void {
    this.goTo(topOf({ index, offset: 0 }, this.#layout));
  }

  /** Scrolls by the least that shows the item, and gives it the focus. */
  focus(index: number): void {
    this.index = index;
    const top = revealed(rowOf(index, this.#layout), this.top, this.#viewport, this.#layout);
    if (top === this.top) this.#place();
    else this.goTo(top);
    this.#target(index)?.focus({ preventScroll: true });
  }

  cellOf(index: number): HTMLElement | undefined {
    const row = this.#rows.get(rowOf(index, this.#layout));
    return row?.children[index % this.#layout.columns] as HTMLElement | undefined;
  }

  /** Whether an item is in the viewport, while its cell is painted. */
  sees(index: number): boolean {
    const row = rowOf(index, this.#layout);
    return row >= this.#visible.first && row <= this.#visible.last;
  }

  indexOf(target: EventTarget | null): number | undefined {
    const cell = (target as Element | null)?.closest<HTMLElement>('[data-index]');
    return cell ? Number(cell.dataset['index']) : undefined;
  }

  /** Paints items again, all that have cells without a range. */
  repaint(from = 0, to = Number.POSITIVE_INFINITY): void {
    const { columns } = this.#layout;
    for (const [row, element] of this.#rows)
      if ((row + 1) * columns > from && row * columns < to) this.#paintRow(element, row);
  }

  get #held(): boolean {
    return this.#scroller.contains(document.activeElement) && document.activeElement !== this.#scroller;
  }

  #target(index: number): HTMLElement | undefined {
    return this.cellOf(index)?.firstElementChild as HTMLElement | undefined;
  }

  #focused = ({ target }: FocusEvent): void => {
    const index = this.indexOf(target);
    if (index === undefined) return;
    this.index = index;
    this.#markStop();
  };

  #scrolled = (): void => {
    if (this.#frame === 0)
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.#place();
      });
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [setTimeout(() => this.#report(false), SETTLED_MS), setTimeout(() => this.#recentre(), IDLE_MS)];
  };

  #recentre(): void {
    const { scrollTop } = this.#scroller;
    const next = recentred({ base: this.#base, scrollTop }, heightOf(this.#layout), this.#viewport);
    if (next) this.goTo(next.base + next.scrollTop);
  }

  /** Gives every row around the viewport an element at its place. */
  #place(): void {
    const layout = this.#layout;
    if (layout.count === 0) {
      this.#discard();
      return;
    }
    const { first, last } = keptRows(this.top, this.#viewport, layout);
    this.#visible = visibleRows(this.top, this.#viewport, layout);
    const pinned = this.#held ? rowOf(this.index, layout) : -1;
    for (const [row, element] of this.#rows) {
      if ((row >= first && row <= last) || row === pinned) continue;
      this.#rows.delete(row);
      this.#free.push(element);
    }
    for (let row = first; row <= last; row++) if (!this.#rows.has(row)) this.#paintRow(this.#take(row), row);
    for (const spare of this.#free.splice(0)) spare.remove();
    for (const [row, element] of this.#rows)
      element.style.transform = `translate(0px, ${row * layout.rowHeight - this.#base}px)`;
    const fast = Math.abs(this.top - this.#lastTop) > FAST_ROWS * layout.rowHeight;
    this.#lastTop = this.top;
    this.#report(fast);
  }

  #report(fast: boolean): void {
    const { columns, count } = this.#layout;
    const visible = visibleRows(this.top, this.#viewport, this.#layout);
    const kept = keptRows(this.top, this.#viewport, this.#layout);
    const indexes = ({ first, last }: Range): Range => ({
      first: first * columns,
      last: Math.min(count, (last + 1) * columns) - 1,
    });
    this.#markStop();
    this.#host.moved({ visible: indexes(visible), kept: indexes(kept), fast });
  }

  #take(row: number): HTMLElement {
    const element = this.#free.pop() ?? this.#makeRow();
    this.#rows.set(row, element);
    if (!element.isConnected) this.#sizer.append(element);
    return element;
  }

  #makeRow(): HTMLElement {
    const row = document.createElement('div');
    row.className = 'fy-row';
    row.setAttribute('role', 'row');
    for (let at = 0; at < this.#layout.columns; at++) {
      const cell = this.#host.make();
      cell.setAttribute('role', 'gridcell');
      cell.setAttribute('aria-colindex', String(at + 1));
      row.append(cell);
    }
    return row;
  }

  #paintRow(element: HTMLElement, row: number): void {
    element.setAttribute('aria-rowindex', String(row + 1));
    element.style.blockSize = `${this.#layout.cardHeight}px`;
    for (const [at, cell] of [...element.children].entries()) {
      const index = row * this.#layout.columns + at;
      const there = index < this.#layout.count;
      (cell as HTMLElement).hidden = !there;
      (cell as HTMLElement).dataset['index'] = String(index);
      if (there) this.#host.paint(cell as HTMLElement, index);
    }
  }

  /** One tab stop: the item with the focus, else the first visible one. */
  #markStop(): void {
    const { columns } = this.#layout;
    const { first, last } = visibleRows(this.top, this.#viewport, this.#layout);
    const row = rowOf(this.index, this.#layout);
    if (!this.#held && (row < first || row > last)) this.index = first * columns;
    for (const element of this.#rows.values())
      for (const cell of element.children)
        (cell.firstElementChild as HTMLElement).tabIndex =
          Number((cell as HTMLElement).dataset['index']) === this.index ? 0 : -1;
  }

  #discard(): void {
    for (const element of this.#rows.values()) element.remove();
    this.#rows.clear();
    this.#free.length = 0;
  }
}

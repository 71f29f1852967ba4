const MOST_COLUMNS = 64;
/** Height of a row in percent of the picture. */
const ROW_PERCENT = 5;

/** A caption window, as far as its text goes. */
export class CaptionWindow {
  isVisible: boolean;
  /** Top in percent of the height. */
  readonly top: number;
  readonly #rowCount: number;
  #rows: string[][] = [];
  #row = 0;
  #column = 0;

  /** Reads the six bytes of DefineWindow; rows of a window that is defined once more stay. */
  constructor(definition: Uint8Array, before?: CaptionWindow) {
    const [flags = 0, vertical = 0, , anchor = 0] = definition;
    this.isVisible = (flags & 0x20) !== 0;
    this.#rowCount = (anchor & 15) + 1;
    const place = vertical & 0x80 ? vertical & 0x7f : ((vertical & 0x7f) * 100) / 75;
    const above = (Math.floor((anchor >> 4) / 3) / 2) * this.#rowCount * ROW_PERCENT;
    this.top = Math.round(Math.min(100, Math.max(0, place - above)));
    if (before) [this.#rows, this.#row, this.#column] = [before.#rows, before.#row, before.#column];
    this.#rows.length = Math.min(this.#rows.length, this.#rowCount);
    this.#row = Math.min(this.#row, this.#rowCount - 1);
  }

  write(letter: string): void {
    this.#rows[this.#row] ??= [];
    const letters = this.#rows[this.#row] ?? [];
    while (letters.length < this.#column) letters.push(' ');
    letters[this.#column] = /\p{C}/u.test(letter) ? ' ' : letter;
    this.#column = Math.min(MOST_COLUMNS - 1, this.#column + 1);
  }

  back(): void {
    this.#column = Math.max(0, this.#column - 1);
    this.#rows[this.#row]?.splice(this.#column);
  }

  /** The next row; at the last one the window scrolls. */
  return(): void {
    this.#column = 0;
    if (this.#row < this.#rowCount - 1) this.#row += 1;
    else this.#rows = Array.from({ length: this.#rowCount - 1 }, (_, row) => this.#rows[row + 1] ?? []);
  }

  emptyRow(): void {
    this.#rows[this.#row] = [];
    this.#column = 0;
  }

  empty(): void {
    this.#rows = [];
    this.move(0, 0);
  }

  move(row: number, column: number): void {
    this.#row = Math.min(row, this.#rowCount - 1);
    this.#column = Math.min(column, MOST_COLUMNS - 1);
  }

  get text(): string {
    return Array.from(this.#rows, (letters) => (letters ?? []).join('').trim())
      .filter((line) => line !== '')
      .join('\n');
  }
}

import type { CaptionCue } from '#platform/live/captions.ts';
import { basicLetter, extendedLetter, specialLetter } from './cea608-letters.ts';
import { CueTrack, type Shown } from './cue-track.ts';

const ROWS = 15;
const COLUMNS = 32;
/** Row of a preamble by its first byte, for the lower and the upper half of the second bytes. */
const PREAMBLE_ROWS: Readonly<Record<number, readonly [number, number]>> = {
  16: [11, 11],
  17: [1, 2],
  18: [3, 4],
  19: [12, 13],
  20: [14, 15],
  21: [5, 6],
  22: [7, 8],
  23: [9, 10],
};

type Mode = 'pop-on' | 'roll-up' | 'paint-on' | 'text';

/** Fifteen rows of letters, numbered from 1. */
class Screen {
  #rows: string[][] = Array.from({ length: ROWS + 1 }, () => []);

  write(row: number, column: number, letter: string): void {
    const letters = this.#rows[row];
    if (!letters || column >= COLUMNS) return;
    while (letters.length < column) letters.push(' ');
    letters[column] = letter;
  }

  /** Empties a row from a column on. */
  cut(row: number, column = 0): void {
    this.#rows[row]?.splice(column);
  }

  /** Moves the rows of a roll-up window up by one; all others are empty then. */
  roll(base: number, depth: number): void {
    this.#rows = this.#rows.map((_, row) => (row < base && row > base - depth ? (this.#rows[row + 1] ?? []) : []));
  }

  /** Moves a roll-up window to another base row. */
  move(from: number, to: number, depth: number): void {
    const moved = this.#rows.slice(Math.max(1, from - depth + 1), from + 1);
    this.#rows = this.#rows.map((_, row) => moved[row - to + moved.length - 1] ?? []);
  }

  get shown(): Shown {
    const lines = this.#rows.map((letters) => letters.join('').trim());
    const first = lines.findIndex((line) => line !== '');
    const text = lines.filter((line) => line !== '').join('\n');
    return { text, line: first < 1 || first > 10 ? undefined : Math.round(10 + ((first - 1) * 80) / ROWS) };
  }
}

/** One of the four caption channels. */
class Channel {
  readonly track: CueTrack;
  /** A caption was begun: the channel is in use. */
  isHeard = false;
  #mode: Mode | undefined;
  #visible = new Screen();
  #hidden = new Screen();
  #row = ROWS;
  #column = 0;
  #depth = 2;

  constructor(track: CueTrack) {
    this.track = track;
  }

  get #screen(): Screen {
    return this.#mode === 'pop-on' ? this.#hidden : this.#visible;
  }

  letter(atMs: number, letter: string): void {
    if (!this.#mode || this.#mode === 'text') return;
    this.#screen.write(this.#row, this.#column, letter);
    this.#column = Math.min(COLUMNS - 1, this.#column + 1);
    this.isHeard = true;
    if (this.#mode !== 'pop-on') this.#show(atMs, true);
  }

  /** An extended letter replaces the plain one that was sent before it for old receivers. */
  extended(atMs: number, letter: string): void {
    this.#column = Math.max(0, this.#column - 1);
    this.letter(atMs, letter);
  }

  preamble(atMs: number, row: number, column: number): void {
    if (this.#mode === 'text') return;
    if (this.#mode === 'roll-up') {
      const base = Math.max(row, this.#depth);
      if (base !== this.#row) {
        this.#visible.move(this.#row, base, this.#depth);
        this.#show(atMs);
      }
      this.#row = base;
    } else {
      if (row !== this.#row) this.track.seal();
      this.#row = row;
    }
    this.#column = column;
  }

  /** One to three columns; other numbers are colours. */
  tab(columns: number): void {
    if (columns > 3) return;
    this.#column = Math.min(COLUMNS - 1, this.#column + columns);
  }

  command(atMs: number, code: number): void {
    this.#commands[code]?.(atMs);
  }

  readonly #commands: Readonly<Record<number, (atMs: number) => void>> = {
    32: () => this.#begin('pop-on'),
    33: (atMs) => this.#erase(atMs, Math.max(0, this.#column - 1)),
    36: (atMs) => this.#erase(atMs, this.#column),
    37: (atMs) => this.#rollUp(atMs, 2),
    38: (atMs) => this.#rollUp(atMs, 3),
    39: (atMs) => this.#rollUp(atMs, 4),
    41: () => this.#begin('paint-on'),
    42: () => this.#begin('text'),
    43: () => this.#begin('text'),
    44: (atMs) => this.#clear(atMs),
    45: (atMs) => this.#return(atMs),
    46: () => {
      this.#hidden = new Screen();
    },
    47: (atMs) => this.#flip(atMs),
  };

  #begin(mode: Mode): void {
    if (this.#mode !== mode) this.track.seal();
    this.#mode = mode;
  }

  #rollUp(atMs: number, depth: number): void {
    if (this.#mode !== 'roll-up') {
      this.#clear(atMs);
      this.#hidden = new Screen();
      this.#row = ROWS;
      this.#column = 0;
    }
    this.#depth = depth;
    this.#begin('roll-up');
  }

  #erase(atMs: number, column: number): void {
    if (!this.#mode || this.#mode === 'text') return;
    this.#screen.cut(this.#row, column);
    this.#column = column;
    if (this.#mode !== 'pop-on') this.#show(atMs, true);
  }

  #clear(atMs: number): void {
    this.#visible = new Screen();
    this.#show(atMs);
  }

  #return(atMs: number): void {
    if (this.#mode !== 'roll-up') return;
    this.#visible.roll(this.#row, this.#depth);
    this.#column = 0;
    this.#show(atMs);
    this.track.seal();
  }

  #flip(atMs: number): void {
    [this.#visible, this.#hidden] = [this.#hidden, this.#visible];
    this.#begin('pop-on');
    this.#show(atMs);
  }

  #show(atMs: number, grows = false): void {
    this.track.show(atMs, this.#visible.shown, grows);
  }
}

const hasOddParity = (byte: number): boolean => {
  const folded = byte ^ (byte >> 4);
  return ((0x6996 >> (folded & 15)) & 1) === 1;
};

interface Field {
  /** Of the two channels of the field, the one that the last command was for. */
  channel: Channel | undefined;
  /** The last command, for its repetition. */
  command: number;
  /** Programme data of the field follow instead of captions. */
  isData: boolean;
}

/** Decoder of CEA-608: pairs of bytes of two fields become the cues of the channels CC1 to CC4. */
export class Cea608 {
  readonly #channels: Channel[];
  readonly #fields: Field[] = [0, 1].map(() => ({ channel: undefined, command: 0, isData: false }));

  constructor(growthMs?: number) {
    this.#channels = [1, 2, 3, 4].map(() => new Channel(new CueTrack(growthMs)));
  }

  /** Numbers of the channels that were in use so far. */
  get heard(): number[] {
    return this.#channels.flatMap(({ isHeard }, at) => (isHeard ? [at + 1] : []));
  }

  /** The cues of a channel until a time. */
  take(channel: number, untilMs: number): CaptionCue[] {
    return this.#channels[channel - 1]?.track.take(untilMs) ?? [];
  }

  /** `field` is 0 or 1; the bytes include their parity. */
  push(atMs: number, field: number, [first, second]: readonly [number, number]): void {
    const state = this.#fields[field];
    if (!state || !hasOddParity(second)) return;
    const [a, b] = [hasOddParity(first) ? first & 0x7f : 0x7f, second & 0x7f];
    if (a === 0 && b === 0) return;
    if (a >= 0x10 && a < 0x20) this.#control(atMs, field, [a, b]);
    else if (a > 0 && a < 0x10) state.isData = true;
    else this.#letters(atMs, state, [a, b]);
  }

  #letters(atMs: number, state: Field, pair: readonly number[]): void {
    state.command = 0;
    if (state.isData) return;
    for (const byte of pair) if (byte >= 0x20) state.channel?.letter(atMs, basicLetter(byte));
  }

  #control(atMs: number, field: number, [first, b]: readonly [number, number]): void {
    const state = this.#fields[field];
    if (!state) return;
    const code = first * 256 + b;
    if (state.command === code) {
      state.command = 0;
      return;
    }
    state.command = code;
    state.isData = false;
    state.channel = this.#channels[field * 2 + (first & 8 ? 1 : 0)];
    if (state.channel) obey(state.channel, atMs, [first & 0x17, b]);
  }
}

/** Column of a preamble: an indent of four each, or the first one with a colour. */
const columnOf = (b: number): number => (b & 0x10 ? ((b & 0x0e) >> 1) * 4 : 0);

/** By the first byte of a pair, for second bytes below 0x40. */
const ORDERS: Readonly<Record<number, (channel: Channel, atMs: number, b: number) => void>> = {
  17: (channel, atMs, b) => channel.letter(atMs, b < 0x30 ? ' ' : specialLetter(b)),
  18: (channel, atMs, b) => channel.extended(atMs, extendedLetter(0x12, b)),
  19: (channel, atMs, b) => channel.extended(atMs, extendedLetter(0x13, b)),
  20: (channel, atMs, b) => channel.command(atMs, b),
  21: (channel, atMs, b) => channel.command(atMs, b),
  23: (channel, _atMs, b) => channel.tab(b - 0x20),
};

/** Carries out a pair of a command, without the bit of its channel. */
function obey(channel: Channel, atMs: number, [a, b]: readonly [number, number]): void {
  if (b >= 0x40) channel.preamble(atMs, PREAMBLE_ROWS[a]?.[b & 0x20 ? 1 : 0] ?? ROWS, columnOf(b));
  else if (b >= 0x20) ORDERS[a]?.(channel, atMs, b);
}

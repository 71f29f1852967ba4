import type { CaptionCue } from '#platform/live/captions.ts';
import { CueTrack, type Shown } from './cue-track.ts';
import { accented, supplementLetter, teletextLetter } from './teletext-letters.ts';

const ROWS = 24;
const COLUMNS = 40;
const UNIT = 46;
/** Rows from here on are the usual place of subtitles. */
const BOTTOM = 18;
const MOST_PAGES = 8;
/** A page that no other one ends for this long shows as far as it came. */
const LATE_MS = 200;

const reversed = Uint8Array.from({ length: 256 }, (_, byte) => {
  let out = 0;
  for (let bit = 0; bit < 8; bit += 1) out |= ((byte >> bit) & 1) << (7 - bit);
  return out;
});

const parityOf = (byte: number): number => (0x6996 >> ((byte ^ (byte >> 4)) & 15)) & 1;

/** Four bits of a byte that protects them (Hamming 8/4), one wrong bit put right; -1 for two wrong ones. */
const nibbles = Int8Array.from({ length: 256 }, (_, byte) => {
  const valid = Array.from({ length: 16 }, (_unused, value) => protectedNibble(value));
  const distance = (other: number): number => {
    let bits = 0;
    for (let rest = byte ^ other; rest > 0; rest >>= 1) bits += rest & 1;
    return bits;
  };
  return valid.findIndex((other) => distance(other) <= 1);
});

function protectedNibble(value: number): number {
  const [a, b, c, d] = [value & 1, (value >> 1) & 1, (value >> 2) & 1, (value >> 3) & 1];
  const [p, q, r] = [1 ^ a ^ c ^ d, 1 ^ a ^ b ^ d, 1 ^ a ^ b ^ c];
  const last = 1 ^ p ^ a ^ q ^ b ^ r ^ c ^ d;
  return p | (a << 1) | (q << 2) | (b << 3) | (r << 4) | (c << 5) | (last << 6) | (d << 7);
}

/** 18 bits of three bytes (Hamming 24/18), without repair; undefined where a bit is wrong. */
function tripletOf(bytes: Uint8Array, at: number): number | undefined {
  const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
  const bits = a | (b << 8) | (c << 16);
  let check = 0;
  let ones = 0;
  for (let place = 1; place <= 24; place += 1) {
    if (((bits >> (place - 1)) & 1) === 0) continue;
    ones ^= 1;
    if (place < 24) check ^= place;
  }
  // All five tests and the parity of the whole are odd in a right one.
  if (ones !== 1 || check !== 31) return undefined;
  return ((a >> 2) & 1) | ((a >> 3) & 0x0e) | ((b & 0x7f) << 4) | ((c & 0x7f) << 11);
}

/** A page that is received: it shows when the next page of its magazine begins. */
interface Page {
  track: CueTrack;
  magazine: number;
  /** Two digits, as a number of base 16. */
  number: number;
  rows: (Uint8Array | undefined)[];
  /** Letters of packet 26, by row and column. */
  letters: Map<number, string>;
  national: number;
  isSubtitle: boolean;
  atMs: number;
  isOpen: boolean;
}

interface Header {
  number: number;
  erases: boolean;
  isSubtitle: boolean;
  national: number;
  /** The page ends with the header of any page. */
  isSerial: boolean;
}

/** Undefined where the number of the page or its last bits are lost. */
function headerOf(bytes: Uint8Array): Header | undefined {
  const [units = -1, tens = -1, , erase = -1, , subtitle = -1, , control = -1] = Array.from(
    bytes.subarray(0, 8),
    (byte) => nibbles[byte] ?? -1,
  );
  if (units < 0 || tens < 0 || control < 0) return undefined;
  return {
    number: tens * 16 + units,
    erases: (erase & 8) !== 0, // also where it is lost
    isSubtitle: (subtitle & 12) !== 0,
    // The bits C12 to C14 come with the lowest first.
    national: ((control & 2) << 1) | ((control & 4) >> 1) | ((control & 8) >> 3),
    isSerial: (control & 1) === 1,
  };
}

/** How the letters of a row are shown from a place on. */
interface Manner {
  isShown: boolean;
  isDouble: boolean;
  isMosaic: boolean;
}

/** Carries out a control code: boxes, heights, letters and blocks. */
function obey(manner: Manner, code: number): void {
  if (code === 0x0b) manner.isShown = true;
  if (code === 0x0a) manner.isShown = false;
  if (code === 0x0d || code === 0x0f) manner.isDouble = true;
  if (code < 8) manner.isMosaic = false;
  if (code >= 0x10 && code < 0x18) manner.isMosaic = true;
}

/** Decoder of teletext subtitles (level 1, and the accents of level 1.5) of one elementary stream. */
export class Teletext {
  readonly #pages = new Map<string, Page>();
  #region = 0;

  /** `pages` are numbers such as 888. */
  constructor(pages: readonly string[], growthMs?: number) {
    for (const name of pages.slice(0, MOST_PAGES)) {
      const fresh = { rows: [], letters: new Map<number, string>(), national: 0, isSubtitle: true };
      const place = { magazine: Number(name[0]) % 8, number: Number.parseInt(name.slice(1), 16) };
      const state = { atMs: 0, isOpen: false };
      this.#pages.set(name, { track: new CueTrack(growthMs), ...place, ...fresh, ...state });
    }
  }

  /** The cues of a page until a time. */
  take(page: string, untilMs: number): CaptionCue[] {
    return this.#pages.get(page)?.track.take(untilMs) ?? [];
  }

  /** The payload of a packet of the elementary stream: an identifier, and units of data. */
  push(atMs: number, payload: Uint8Array): void {
    for (const page of this.#pages.values())
      if (page.isOpen && atMs - page.atMs >= LATE_MS) page.track.show(page.atMs, this.#shown(page));
    for (let at = 1; at + UNIT <= payload.length; at += 2 + (payload[at + 1] ?? 0)) {
      const isText = payload[at] === 2 || payload[at] === 3;
      if (isText && payload[at + 1] === 44) this.#packet(atMs, payload.subarray(at + 4, at + UNIT));
    }
  }

  #packet(atMs: number, coded: Uint8Array): void {
    const bytes = coded.map((byte) => reversed[byte] ?? 0);
    const [low, high] = [nibbles[bytes[0] ?? 0] ?? -1, nibbles[bytes[1] ?? 0] ?? -1];
    if (low < 0 || high < 0) return;
    const [magazine, row, rest] = [low & 7, (low >> 3) | (high << 1), bytes.subarray(2)];
    if (row === 0) this.#header(atMs, magazine, rest);
    else if (row === 29) this.#designate(rest);
    else this.#rows(magazine, row, rest);
  }

  #rows(magazine: number, row: number, bytes: Uint8Array): void {
    for (const page of this.#pages.values()) if (page.isOpen && page.magazine === magazine) this.#row(page, row, bytes);
  }

  #header(atMs: number, magazine: number, bytes: Uint8Array): void {
    const header = headerOf(bytes);
    for (const page of this.#pages.values())
      if (page.isOpen && (header?.isSerial || page.magazine === magazine)) this.#close(page);
    for (const page of this.#pages.values())
      if (page.magazine === magazine && page.number === header?.number) this.#begin(page, header, atMs);
  }

  #begin(page: Page, { erases, national, isSubtitle }: Header, atMs: number): void {
    if (erases || page.rows.length === 0) this.#empty(page);
    Object.assign(page, { national, isSubtitle, atMs, isOpen: true });
  }

  #empty(page: Page): void {
    page.rows = [];
    page.letters = new Map();
  }

  #row(page: Page, row: number, bytes: Uint8Array): void {
    if (row <= ROWS) page.rows[row] = bytes.slice(0, COLUMNS);
    else if (row === 26) this.#enhance(page, bytes.subarray(1));
    else if (row === 28) this.#designate(bytes);
  }

  /** Packets 28 and 29: the first triplet of format 1 names the region of the letters. */
  #designate(bytes: Uint8Array): void {
    const designation = nibbles[bytes[0] ?? 0] ?? -1;
    const triplet = designation === 0 || designation === 4 ? tripletOf(bytes, 1) : undefined;
    if (triplet !== undefined && (triplet & 0x0f) === 0) this.#region = (triplet >> 10) & 0x0f;
  }

  /** Packet 26: letters that the set of the page does not have. */
  #enhance(page: Page, bytes: Uint8Array): void {
    let row = 0;
    for (let at = 0; at + 3 <= 39; at += 3) {
      const triplet = tripletOf(bytes, at);
      if (triplet === undefined) continue;
      const [address, mode, data] = [triplet & 0x3f, (triplet >> 6) & 0x1f, triplet >> 11];
      if (address >= COLUMNS) row = mode === 4 || mode === 1 ? (address === 40 ? ROWS : address - 40) : row;
      else if (row > 0) this.#enhanced(page, row * COLUMNS + address, { mode, data });
    }
  }

  #enhanced(page: Page, place: number, { mode, data }: { mode: number; data: number }): void {
    const letter = mode === 0x0f ? supplementLetter(data) : undefined;
    const plain = data === 0x2a ? '@' : String.fromCharCode(data);
    if (letter) page.letters.set(place, letter);
    else if (mode >= 0x10 && data >= 0x20) page.letters.set(place, accented(plain, mode - 0x10));
  }

  #close(page: Page): void {
    page.isOpen = false;
    page.track.show(page.atMs, this.#shown(page));
  }

  #shown(page: Page): Shown {
    const lines: string[] = [];
    let first: number | undefined;
    for (let row = 1; row <= ROWS; row += 1) {
      const bytes = page.rows[row];
      const line = bytes ? this.#line(page, row, bytes) : { text: '', isDouble: false };
      if (line.text !== '') {
        lines.push(line.text);
        first ??= row;
      }
      if (line.isDouble) row += 1; // the lower half
    }
    const line = first === undefined || first >= BOTTOM ? undefined : Math.round((first * 100) / (ROWS + 1));
    return { text: lines.join('\n'), line };
  }

  /** The text of a row inside of its boxes. */
  #line(page: Page, row: number, bytes: Uint8Array): { text: string; isDouble: boolean } {
    const manner: Manner = { isShown: !page.isSubtitle, isDouble: false, isMosaic: false };
    let text = '';
    for (const [column, byte] of bytes.entries()) {
      const code = byte & 0x7f;
      if (code < 0x20) obey(manner, code);
      const letter = page.letters.get(row * COLUMNS + column) ?? this.#letter(page, byte, manner.isMosaic);
      text += manner.isShown ? letter : ' ';
    }
    const { isDouble } = manner;
    return { text: text.replace(/ {2,}/g, ' ').trim(), isDouble };
  }

  #letter({ national }: Page, byte: number, isMosaic: boolean): string {
    const code = byte & 0x7f;
    const isBlock = isMosaic && (code < 0x40 || code >= 0x60);
    return code >= 0x20 && parityOf(byte) === 1 && !isBlock ? teletextLetter(code, this.#region, national) : ' ';
  }
}

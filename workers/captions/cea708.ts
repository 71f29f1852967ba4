import type { CaptionCue } from '#platform/live/captions.ts';
import { CaptionWindow } from './cea708-window.ts';
import { CueTrack } from './cue-track.ts';

/** Below this the usual place of captions begins, in percent. */
const BOTTOM = 60;
const MOST_SERVICES = 8;
/** Parameters of the commands 0x80 to 0x9f. */
const PARAMETERS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 2, 3, 2, 0, 0, 0, 0, 4, 6, 6, 6, 6, 6, 6, 6, 6];

/** Letters of the set G2, of those that are shown. */
const EXTENDED: Readonly<Record<number, string>> = {
  ...{ 32: ' ', 33: ' ', 37: '…', 42: 'Š', 44: 'Œ', 48: '█', 49: '‘', 50: '’', 51: '“', 52: '”' },
  ...{ 53: '•', 57: '™', 58: 'š', 60: 'œ', 61: '℠', 63: 'Ÿ', 118: '⅛', 119: '⅜', 120: '⅝', 121: '⅞' },
  ...{ 122: '│', 123: '┐', 124: '└', 125: '─', 126: '┘', 127: '┌' },
};

/** Bytes of a code, from its first one; undefined while some are missing. */
function lengthOf(bytes: Uint8Array, at: number): number | undefined {
  const code = bytes[at] ?? 0;
  if (code === 0x10) return extendedLength(bytes, at);
  if (code < 0x10) return 1;
  if (code < 0x20) return code < 0x18 ? 2 : 3;
  return code >= 0x80 && code < 0xa0 ? 1 + (PARAMETERS[code - 0x80] ?? 0) : 1;
}

function extendedLength(bytes: Uint8Array, at: number): number | undefined {
  const code = bytes[at + 1];
  if (code === undefined) return undefined;
  if (code < 0x20) return 2 + (code >> 3);
  if (code < 0x80 || code >= 0xa0) return 2;
  if (code < 0x90) return code < 0x88 ? 6 : 7;
  const size = bytes[at + 2];
  return size === undefined ? undefined : 3 + (size & 0x1f);
}

class Service {
  readonly track: CueTrack;
  isHeard = false;
  readonly #windows: (CaptionWindow | undefined)[] = [];
  #current: number | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  /** The screen has to be read again, and whether text was only added. */
  #changed: 'no' | 'grown' | 'new' = 'no';

  constructor(track: CueTrack) {
    this.track = track;
  }

  /** Bytes are missing: the rest of a code does not come. */
  lose(): void {
    this.#rest = new Uint8Array(0);
  }

  push(atMs: number, block: Uint8Array): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, block]) : block;
    let at = 0;
    while (at < bytes.length) {
      const length = lengthOf(bytes, at);
      if (length === undefined || at + length > bytes.length) break;
      this.#code(bytes.subarray(at, at + length));
      at += length;
    }
    this.#rest = Uint8Array.from(bytes.subarray(at));
    this.#show(atMs);
  }

  #show(atMs: number): void {
    if (this.#changed === 'no') return;
    const visible = this.#windows.filter((one) => one?.isVisible).sort((a, b) => (a?.top ?? 0) - (b?.top ?? 0));
    const filled = visible.flatMap((one) => (one && one.text !== '' ? [one] : []));
    const top = filled[0]?.top ?? BOTTOM;
    const text = filled.map((one) => one.text).join('\n');
    this.track.show(atMs, { text, line: top < BOTTOM ? top : undefined }, this.#changed === 'grown');
    this.#changed = 'no';
  }

  get #window(): CaptionWindow | undefined {
    return this.#current === undefined ? undefined : this.#windows[this.#current];
  }

  #code(code: Uint8Array): void {
    const first = code[0] ?? 0;
    if (first >= 0x80 && first < 0xa0) this.#command(first, code.subarray(1));
    else if (first < 0x10) this.#control(first);
    else if (first < 0x20) this.#letters(code);
    else this.#write(first === 0x7f ? '♪' : String.fromCharCode(first));
  }

  /** Letters of more than one byte. */
  #letters(code: Uint8Array): void {
    const [first, second = 0, third = 0] = code;
    if (first === 0x18) this.#write(String.fromCharCode(second * 256 + third));
    if (first === 0x10 && second >= 0x20 && second < 0x80) this.#write(EXTENDED[second] ?? '_');
  }

  #write(letter: string): void {
    this.#window?.write(letter);
    this.isHeard ||= this.#window !== undefined;
    this.#mark(true);
  }

  #control(code: number): void {
    const window = this.#window;
    if (code === 0x08) window?.back();
    if (code === 0x0c) window?.empty();
    if (code === 0x0e) window?.emptyRow();
    if (code === 0x0d) {
      window?.return();
      this.track.seal();
    }
    if ([0x08, 0x0c, 0x0d, 0x0e].includes(code)) this.#mark(false);
  }

  #mark(grown: boolean): void {
    if (!this.#window?.isVisible) return;
    this.#changed = grown && this.#changed !== 'new' ? 'grown' : 'new';
  }

  #command(code: number, parameters: Uint8Array): void {
    const [first = 0, second = 0] = parameters;
    if (code < 0x88) this.#current = code - 0x80;
    else if (code <= 0x8c) this.#each(code, first);
    else if (code === 0x8f) this.#each(0x8c, 0xff);
    else if (code === 0x92) this.#window?.move(first & 15, second & 63);
    else if (code >= 0x98) this.#define(code - 0x98, parameters);
  }

  #define(id: number, definition: Uint8Array): void {
    this.#windows[id] = new CaptionWindow(definition, this.#windows[id]);
    this.#current = id;
    this.#changed = 'new';
  }

  /** ClearWindows, DisplayWindows, HideWindows, ToggleWindows and DeleteWindows. */
  #each(code: number, map: number): void {
    this.#windows.forEach((window, id) => {
      if (!window || ((map >> id) & 1) === 0) return;
      if (code === 0x88) window.empty();
      else if (code === 0x8c) this.#windows[id] = undefined;
      else window.isVisible = code === 0x8b ? !window.isVisible : code === 0x89;
    });
    this.#changed = 'new';
  }
}

/** A block for a service; numbers above 6 have a byte of their own, and 0 ends the packet. */
function blockAt(packet: Uint8Array, at: number): { id: number; from: number; end: number } {
  const head = packet[at] ?? 0;
  const size = head & 0x1f;
  const isExtended = head >> 5 === 7 && size > 0;
  const id = isExtended ? (packet[at + 1] ?? 0) & 0x3f : head >> 5;
  const from = at + (isExtended ? 2 : 1);
  return { id, from, end: from + size };
}

/** Decoder of CEA-708: caption packets become the cues of the services. */
export class Cea708 {
  readonly #growthMs: number | undefined;
  readonly #services = new Map<number, Service>();
  readonly #packet = new Uint8Array(128);
  #filled = 0;
  #sequence = -1;

  constructor(growthMs?: number) {
    this.#growthMs = growthMs;
  }

  /** Numbers of the services that were in use so far. */
  get heard(): number[] {
    return [...this.#services].flatMap(([id, { isHeard }]) => (isHeard ? [id] : [])).sort((a, b) => a - b);
  }

  /** The cues of a service until a time. */
  take(service: number, untilMs: number): CaptionCue[] {
    return this.#services.get(service)?.track.take(untilMs) ?? [];
  }

  /** `isStart`: the pair begins a packet. */
  push(atMs: number, isStart: boolean, pair: readonly [number, number]): void {
    if (isStart) this.#filled = 0;
    else if (this.#filled === 0) return;
    for (const byte of pair) if (this.#filled < this.#packet.length) this.#packet[this.#filled++] = byte;
    const size = (this.#packet[0] ?? 0) & 0x3f;
    if (this.#filled < (size === 0 ? 128 : size * 2)) return;
    this.#read(atMs, this.#packet.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #read(atMs: number, packet: Uint8Array): void {
    const sequence = (packet[0] ?? 0) >> 6;
    const isNext = this.#sequence === -1 || sequence === ((this.#sequence + 1) & 3);
    if (!isNext) for (const service of this.#services.values()) service.lose();
    this.#sequence = sequence;
    for (let at = 1; at < packet.length; ) {
      const { id, from, end } = blockAt(packet, at);
      if (id === 0) return;
      this.#serviceOf(id)?.push(atMs, packet.subarray(from, end));
      at = end;
    }
  }

  #serviceOf(id: number): Service | undefined {
    if (!this.#services.has(id) && this.#services.size < MOST_SERVICES)
      this.#services.set(id, new Service(new CueTrack(this.#growthMs)));
    return this.#services.get(id);
  }
}

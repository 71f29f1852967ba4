// Draws subtitles of a DVD. Each packet is complete: an image of four colours, and commands with their times.
import type { Packet, PictureStream } from './cis1.ts';
import { isDrawable, rgba, type Screen } from './screen.ts';

/** Units of a command's time: 1,024 ticks of the clock of 90 kHz. */
const TICK_MS = 1024 / 90;
const MOST_SEQUENCES = 64;
const PAL = { width: 720, height: 576 };
/** Bytes of a command without its own; 7 has its length in itself. */
const LENGTHS: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 0, 3: 2, 4: 2, 5: 6, 6: 4 };

interface Commands {
  /** When the image begins and ends, ms behind the packet. */
  beginMs?: number;
  endMs?: number;
  /** Indices into the palette, and how opaque each is: background first. */
  colours: number[];
  alphas: number[];
  area?: { x: number; y: number; width: number; height: number };
  /** Where the even and the odd lines begin. */
  lines?: [number, number];
}

/** When the image of a packet shows; without an image it only ends the one before. */
export function spanOf(packet: Packet): { fromMs: number; toMs?: number } {
  const { beginMs, endMs } = commandsOf(packet.bytes);
  const fromMs = packet.timeMs + (beginMs ?? 0);
  if (endMs !== undefined && endMs > (beginMs ?? 0)) return { fromMs, toMs: packet.timeMs + endMs };
  return packet.durationMs > 0 ? { fromMs, toMs: packet.timeMs + packet.durationMs } : { fromMs };
}

/** Draws the image of a packet; undefined when it has none that can be drawn. */
export function drawSpu(stream: PictureStream, { bytes }: Packet): Screen | undefined {
  const plane = { width: stream.width ?? PAL.width, height: stream.height ?? PAL.height };
  const { beginMs, colours, alphas, area, lines } = commandsOf(bytes);
  if (beginMs === undefined || !area || !lines) return undefined;
  const { x, y, width, height } = area;
  if (!isDrawable(plane.width, plane.height) || !isDrawable(width, height)) return undefined;
  const palette = colours.map((colour, i) => paletteColour(stream.palette, colour, (alphas[i] ?? 0) * 17));
  const pixels = new Uint32Array(width * height);
  for (const odd of [0, 1]) drawField(pixels, { bytes, palette, width, from: lines[odd] ?? 0, first: odd });
  return { ...plane, parts: [{ x, y, width, height, pixels: new Uint8ClampedArray(pixels.buffer) }] };
}

function paletteColour(palette: readonly string[] | undefined, index: number, alpha: number): number {
  const [, hex] = /^#([0-9a-f]{6})$/i.exec(palette?.[index] ?? '') ?? [];
  // A film without a palette is legible in grey.
  const value = hex === undefined ? index * 0x111111 : Number.parseInt(hex, 16);
  return rgba(value >> 16, (value >> 8) & 0xff, value & 0xff, alpha);
}

/** Commands until the image shows, and the time of its end. */
function commandsOf(bytes: Uint8Array): Commands {
  const found: Commands = { colours: [0, 0, 0, 0], alphas: [0, 0, 0, 0] };
  if (bytes.length < 4) return found;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sequence = view.getUint16(2);
  for (let n = 0; n < MOST_SEQUENCES && sequence + 4 <= bytes.length; n += 1) {
    const atMs = view.getUint16(sequence) * TICK_MS;
    const isShown = found.beginMs !== undefined;
    for (const { command, data } of sequenceOf(bytes, sequence + 4)) take(found, { command, data, atMs, isShown });
    const next = view.getUint16(sequence + 2);
    if (next <= sequence) break;
    sequence = next;
  }
  return found;
}

interface Command {
  command: number;
  data: Uint8Array;
}

function* sequenceOf(bytes: Uint8Array, begin: number): Generator<Command> {
  for (let at = begin; at < bytes.length; ) {
    const command = bytes[at] ?? 0xff;
    const length = command === 7 ? ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0) : LENGTHS[command];
    if (length === undefined || at + 1 + length > bytes.length) return;
    yield { command, data: bytes.subarray(at + 1, at + 1 + length) };
    at += 1 + length;
  }
}

/** Later changes of an image that shows, such as a fade, are left out. */
function take(found: Commands, { command, data, atMs, isShown }: Command & { atMs: number; isShown: boolean }): void {
  if (command === 2) found.endMs ??= atMs;
  if (isShown) return;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = data;
  if (command <= 1) found.beginMs ??= atMs;
  else if (command === 3) found.colours = [b & 15, b >> 4, a & 15, a >> 4];
  else if (command === 4) found.alphas = [b & 15, b >> 4, a & 15, a >> 4];
  else if (command === 6) found.lines = [(a << 8) | b, (c << 8) | d];
  else if (command === 5) {
    const [x, right] = [(a << 4) | (b >> 4), ((b & 15) << 8) | c];
    const [y, bottom] = [(d << 4) | (e >> 4), ((e & 15) << 8) | f];
    found.area = { x, y, width: right - x + 1, height: bottom - y + 1 };
  }
}

interface Field {
  bytes: Uint8Array;
  palette: readonly number[];
  width: number;
  /** The first byte of its lines. */
  from: number;
  /** 0 for the even lines. */
  first: number;
}

/** Every second line; each begins at a whole byte. */
function drawField(pixels: Uint32Array, { bytes, palette, width, from, first }: Field): void {
  let nibble = from * 2;
  const end = bytes.length * 2;
  const next = (): number => {
    const byte = bytes[nibble >> 1] ?? 0;
    nibble += 1;
    return (nibble & 1) === 1 ? byte >> 4 : byte & 15;
  };
  for (let line = first * width; line < pixels.length && nibble < end; line += 2 * width) {
    for (let x = 0; x < width && nibble < end; ) {
      let code = next();
      for (let least = 4; code < least && least <= 64; least *= 4) code = (code << 4) | next();
      const run = code >> 2 === 0 ? width - x : Math.min(code >> 2, width - x);
      pixels.fill(palette[code & 3] ?? 0, line + x, line + x + run);
      x += run;
    }
    nibble += nibble & 1;
  }
}

// Draws subtitles of a Blu-ray. A display set builds on the sets before it, back to the last that clears the screen.
import type { Packet } from './cis1.ts';
import { isDrawable, type Part, rgba, type Screen } from './screen.ts';

const PALETTE = 0x14;
const OBJECT = 0x15;
const COMPOSITION = 0x16;
const EPOCH_START = 0x80;
const FIRST_PIECE = 0x80;
const CROPPED = 0x80;
/** A composition of a disc has no more. */
const MOST_PARTS = 2;

interface Segment {
  type: number;
  data: Uint8Array;
  view: DataView;
}

/** The segments of a packet, as far as they are complete. */
function* segmentsOf(bytes: Uint8Array): Generator<Segment> {
  for (let at = 0; at + 3 <= bytes.length; ) {
    const end = at + 3 + (((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0));
    if (end > bytes.length) return;
    const data = bytes.subarray(at + 3, end);
    yield { type: bytes[at] ?? 0, data, view: new DataView(data.buffer, data.byteOffset, data.byteLength) };
    at = end;
  }
}

function compositionOf({ bytes }: Packet): Segment | undefined {
  for (const segment of segmentsOf(bytes))
    if (segment.type === COMPOSITION && segment.data.length >= 11) return segment;
  return undefined;
}

/** When the picture of a packet begins; undefined for one that changes nothing. */
export const beginOf = (packet: Packet): number | undefined =>
  compositionOf(packet) === undefined ? undefined : packet.timeMs;

/** An image, its run lengths still as the packets have them. */
interface Encoded {
  width: number;
  height: number;
  pieces: Uint8Array[];
}

interface Epoch {
  palettes: Map<number, Uint32Array>;
  objects: Map<number, Encoded>;
}

/** Draws the screen that a packet leaves; undefined when it is empty. */
export function drawSet(packets: readonly Packet[], index: number): Screen | undefined {
  const packet = packets[index];
  const composition = packet && compositionOf(packet);
  if (!composition) return undefined;
  const { view } = composition;
  const [width, height] = [view.getUint16(0), view.getUint16(2)];
  if (!isDrawable(width, height)) return undefined;
  const epoch = epochOf(packets, index, height);
  const palette = epoch.palettes.get(view.getUint8(9));
  const parts = placesOf(composition).flatMap((place) => {
    const object = epoch.objects.get(place.id);
    if (!palette || !object || object.width > width || object.height > height) return [];
    return partOf(object, place, palette) ?? [];
  });
  return parts.length === 0 ? undefined : { width, height, parts };
}

/** Palettes and images since the last packet that clears the screen. */
function epochOf(packets: readonly Packet[], index: number, height: number): Epoch {
  let first = index;
  while (first > 0 && stateOf(packets[first]) !== EPOCH_START) first -= 1;
  const epoch: Epoch = { palettes: new Map(), objects: new Map() };
  for (const { bytes } of packets.slice(first, index + 1)) {
    for (const { type, data, view } of segmentsOf(bytes)) {
      if (type === PALETTE && data.length >= 2) takePalette(epoch, data, height);
      if (type === OBJECT && data.length >= 4) takeObject(epoch, data, view);
    }
  }
  return epoch;
}

const stateOf = (packet: Packet | undefined): number | undefined => packet && compositionOf(packet)?.data[7];

/** Entries that a later palette lacks keep their colour. */
function takePalette({ palettes }: Epoch, data: Uint8Array, height: number): void {
  const colours = palettes.get(data[0] ?? 0)?.slice() ?? new Uint32Array(256);
  for (let at = 2; at + 5 <= data.length; at += 5) {
    const [index = 0, y = 0, cr = 0, cb = 0, alpha = 0] = data.subarray(at, at + 5);
    colours[index] = colourOf([y, cr, cb], alpha, height > 576);
  }
  palettes.set(data[0] ?? 0, colours);
}

/** Films in HD use BT.709, others BT.601. */
function colourOf([y = 0, cr = 0, cb = 0]: readonly number[], alpha: number, isHd: boolean): number {
  const light = 1.164383 * (y - 16);
  const [red, blue] = [cr - 128, cb - 128];
  if (isHd)
    return rgba(light + 1.792741 * red, light - 0.213249 * blue - 0.532909 * red, light + 2.112402 * blue, alpha);
  return rgba(light + 1.596027 * red, light - 0.391762 * blue - 0.812968 * red, light + 2.017232 * blue, alpha);
}

function takeObject({ objects }: Epoch, data: Uint8Array, view: DataView): void {
  const id = view.getUint16(0);
  if ((view.getUint8(3) & FIRST_PIECE) === 0) objects.get(id)?.pieces.push(data.subarray(4));
  else if (data.length >= 11)
    objects.set(id, { width: view.getUint16(7), height: view.getUint16(9), pieces: [data.subarray(11)] });
}

interface Place {
  id: number;
  x: number;
  y: number;
  /** The visible part of the image; absent when all of it is. */
  crop?: { x: number; y: number; width: number; height: number };
}

function placesOf({ data, view }: Segment): Place[] {
  const places: Place[] = [];
  for (let [n, at] = [0, 11]; n < Math.min(view.getUint8(10), MOST_PARTS) && at + 8 <= data.length; n += 1) {
    const isCropped = (view.getUint8(at + 3) & CROPPED) !== 0;
    const [id, x, y] = [view.getUint16(at), view.getUint16(at + 4), view.getUint16(at + 6)];
    if (!isCropped) places.push({ id, x, y });
    else if (at + 16 <= data.length) places.push({ id, x, y, crop: cropAt(view, at + 8) });
    at += isCropped ? 16 : 8;
  }
  return places;
}

const cropAt = (view: DataView, at: number): Place['crop'] & object => ({
  x: view.getUint16(at),
  y: view.getUint16(at + 2),
  width: view.getUint16(at + 4),
  height: view.getUint16(at + 6),
});

function partOf(object: Encoded, { x, y, crop }: Place, palette: Uint32Array): Part | undefined {
  const { width, height } = object;
  if (!isDrawable(width, height)) return undefined;
  const all = pixelsOf(object, palette);
  if (!crop) return { x, y, width, height, pixels: new Uint8ClampedArray(all.buffer) };
  const [wide, high] = [Math.min(crop.width, width - crop.x), Math.min(crop.height, height - crop.y)];
  if (wide <= 0 || high <= 0) return undefined;
  const cut = new Uint32Array(wide * high);
  for (let row = 0; row < high; row += 1) {
    const from = (crop.y + row) * width + crop.x;
    cut.set(all.subarray(from, from + wide), row * wide);
  }
  return { x, y, width: wide, height: high, pixels: new Uint8ClampedArray(cut.buffer) };
}

/** Run lengths to pixels; what a damaged image lacks is transparent. */
function pixelsOf({ width, height, pieces }: Encoded, palette: Uint32Array): Uint32Array<ArrayBuffer> {
  const pixels = new Uint32Array(width * height);
  const code = joined(pieces);
  let [at, pixel] = [0, 0];
  while (at < code.length && pixel < pixels.length) {
    let [colour, run] = [code[at++] ?? 0, 1];
    if (colour === 0) {
      const flags = code[at++] ?? 0;
      run = flags & 0x3f;
      if ((flags & 0x40) !== 0) run = (run << 8) | (code[at++] ?? 0);
      if ((flags & 0x80) !== 0) colour = code[at++] ?? 0;
    }
    if (run === 0) pixel = Math.ceil(pixel / width) * width;
    else pixels.fill(palette[colour] ?? 0, pixel, Math.min(pixel + run, pixels.length));
    pixel += run;
  }
  return pixels;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only) return only;
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

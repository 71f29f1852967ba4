// Reads a CIS1 stream: `CIS1`, the length and JSON of its header, packets, and an end record whose time is NaN.

export type Codec = 'pgs' | 'vobsub';

export interface Packet {
  timeMs: number;
  /** 0 when the file has none. */
  durationMs: number;
  bytes: Uint8Array;
}

export interface PictureStream {
  codec: Codec;
  /** Of VobSub: 16 colours as #rrggbb, and the size of the picture. */
  palette?: readonly string[];
  width?: number;
  height?: number;
  packets: Packet[];
  /** Everything before this time is there; absent when nothing was left out. */
  untilMs?: number;
}

/** The server writes no more. */
export const MOST_BYTES = 33 << 20;
const MOST_PACKETS = 4096;
const LONGEST_HEADER = 65_536;
const RECORD = 20;

/** Throws when it is no such stream; one that ends early has the packets until there. */
export function readStream(bytes: Uint8Array): PictureStream {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length < 8 ? LONGEST_HEADER : view.getUint32(4, true);
  const begin = 8 + length;
  if (length >= LONGEST_HEADER || begin > bytes.length || textOf(bytes.subarray(0, 4)) !== 'CIS1')
    throw new Error('no CIS1');
  const stream: PictureStream = { ...headerOf(objectOf(bytes.subarray(8, begin))), packets: [] };
  for (let at = begin; at + RECORD <= bytes.length; ) {
    const timeMs = view.getFloat64(at, true);
    const end = at + RECORD + view.getUint32(at + 16, true);
    const content = bytes.subarray(at + RECORD, end);
    if (Number.isNaN(timeMs)) return { ...stream, ...endOf(objectOf(content), stream.packets) };
    if (end > bytes.length || stream.packets.length === MOST_PACKETS) break;
    stream.packets.push({ timeMs, durationMs: view.getFloat64(at + 8, true), bytes: content });
    at = end;
  }
  return { ...stream, untilMs: stream.packets.at(-1)?.timeMs ?? 0 };
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function objectOf(bytes: Uint8Array): Record<string, unknown> {
  const value: unknown = JSON.parse(textOf(bytes));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function headerOf({ codec, palette, width, height }: Record<string, unknown>): Omit<PictureStream, 'packets'> {
  if (codec !== 'pgs' && codec !== 'vobsub') throw new Error('pictures of another kind');
  const colours = Array.isArray(palette) ? palette.filter((one) => typeof one === 'string') : [];
  return {
    codec,
    ...(colours.length === 16 && { palette: colours }),
    ...(typeof width === 'number' && typeof height === 'number' && { width, height }),
  };
}

function endOf({ cut, untilMs }: Record<string, unknown>, packets: readonly Packet[]): { untilMs?: number } {
  if (cut !== true) return {};
  return { untilMs: typeof untilMs === 'number' ? untilMs : (packets.at(-1)?.timeMs ?? 0) };
}

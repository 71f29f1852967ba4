// Writes closed captions into the pictures of a transport stream, as a station does.
import { PACKET, readPacket, timeOf } from '#workers/transcode/packets.ts';

export type Triplets = [type: number, first: number, second: number][];
type Pair = [number, number];

const odd = (byte: number): number => {
  let ones = 0;
  for (let bit = 0; bit < 7; bit += 1) ones += (byte >> bit) & 1;
  return ones % 2 === 0 ? byte | 0x80 : byte & 0x7f;
};

const pairsOf = (bytes: readonly number[]): Pair[] =>
  Array.from({ length: Math.ceil(bytes.length / 2) }, (_, i) => [bytes[i * 2] ?? 0, bytes[i * 2 + 1] ?? 0]);

/** Commands are sent twice. */
const twice = (first: number, second: number): Pair[] => [
  [first, second],
  [first, second],
];

/** A line at a row: 14 and 15 are the last ones, 1 is the first. */
const lineAt = (row: 1 | 14 | 15, text: string): Pair[] => [
  ...twice(row === 1 ? 0x11 : 0x14, row === 15 ? 0x70 : row === 14 ? 0x50 : 0x40),
  ...pairsOf([...Buffer.from(text, 'latin1')]),
];

/** Pairs of CEA-608 without parity, for channel 1 of a field. */
export const line21 = {
  popOn: (text: string, row: 1 | 14 = 14): Pair[] => [
    ...twice(0x14, 0x20),
    ...twice(0x14, 0x2e),
    ...text.split('\n').flatMap((line, i) => lineAt(i === 0 ? row : 15, line)),
    ...twice(0x14, 0x2f),
  ],
  rollUp: (text: string): Pair[] => [...twice(0x14, 0x25), ...twice(0x14, 0x2d), ...lineAt(15, text)],
  paintOn: (text: string): Pair[] => [...twice(0x14, 0x29), ...lineAt(15, text)],
  clear: (): Pair[] => twice(0x14, 0x2c),
  /** The same for the second channel of the field. */
  second: (pairs: Pair[]): Pair[] => pairs.map(([a, b]) => (a >= 0x10 && a < 0x20 ? [a | 8, b] : [a, b])),
};

/** A packet of CEA-708 with one block for a service. */
export function packet708(service: number, sequence: number, codes: readonly number[]): Triplets {
  const block = [(service << 5) | codes.length, ...codes];
  const size = Math.ceil((block.length + 1) / 2);
  const bytes = [((sequence & 3) << 6) | size, ...block, ...new Array<number>(size * 2 - 1 - block.length).fill(0)];
  return pairsOf(bytes).map(([a, b], i) => [i === 0 ? 3 : 2, a, b]);
}

/** A window with a text, visible at once; `vertical` is its bottom of 75. */
export const window708 = (text: string, vertical = 70): number[] => [
  ...[0x8c, 0xff, 0x98, 0x38, vertical, 105, 0x71, 31, 0x09],
  ...[...Buffer.from(text, 'latin1')].map((code) => (code === 0x0a ? 0x0d : code)),
  0x03,
];

/** What each picture has at a time, in the order of presentation. */
export class CaptionScript {
  readonly #pairs: [Pair[], Pair[]] = [[], []];
  readonly #due: { atMs: number; field: 0 | 1 | 'digital'; pairs: Pair[]; triplets: Triplets }[] = [];

  /** From then on each picture has one of the pairs. */
  field(atMs: number, pairs: Pair[], field: 0 | 1 = 0): this {
    this.#due.push({ atMs, field, pairs, triplets: [] });
    return this;
  }

  digital(atMs: number, triplets: Triplets): this {
    this.#due.push({ atMs, field: 'digital', pairs: [], triplets });
    return this;
  }

  at(ms: number): Triplets {
    const due = this.#due.filter((one) => one.atMs <= ms);
    for (const one of due) if (one.field !== 'digital') this.#pairs[one.field].push(...one.pairs);
    this.#due.splice(0, this.#due.length, ...this.#due.filter((one) => one.atMs > ms));
    const fields = this.#pairs.map((pairs, field): Triplets => {
      const [a, b] = pairs.shift() ?? [0, 0];
      return [[field, odd(a), odd(b)]];
    });
    return [...fields.flat(), ...due.flatMap(({ triplets }) => triplets)];
  }
}

const userData = (triplets: Triplets): number[] => [
  ...[0x47, 0x41, 0x39, 0x34, 0x03, 0x40 | triplets.length, 0xff],
  ...triplets.flatMap(([type, a, b]) => [0xfc | type, a, b]),
  0xff,
];

function supplement(triplets: Triplets): Buffer {
  const data = [0xb5, 0x00, 0x31, ...userData(triplets)];
  const out: number[] = [];
  for (const byte of [0x06, 0x04, data.length, ...data, 0x80]) {
    if (byte <= 3 && out.at(-1) === 0 && out.at(-2) === 0) out.push(3);
    out.push(byte);
  }
  return Buffer.from([0, 0, 1, ...out]);
}

/** Where the picture's own data begin: the first slice. */
function firstSlice(bytes: Buffer, isMpeg2: boolean): number {
  for (let at = bytes.indexOf('\0\0\u0001', 0, 'latin1'); at >= 0; at = bytes.indexOf('\0\0\u0001', at + 3, 'latin1')) {
    const code = bytes[at + 3] ?? 0;
    if (isMpeg2 ? code === 0x01 : [1, 5].includes(code & 31)) return at;
  }
  throw new Error('no picture');
}

interface Held {
  head: Buffer[];
  payload: Buffer[];
  at: number;
}

/** A transport stream of ffmpeg with captions in its pictures. `captions`: triplets by time of presentation, from 0. */
export function withCaptions(ts: Buffer, captions: (atMs: number) => Triplets): Buffer {
  const packets = Array.from({ length: ts.length / PACKET }, (_, i) => ts.subarray(i * PACKET, (i + 1) * PACKET));
  const isVideo = (bytes: Buffer): boolean => readPacket(bytes).pid === 0x100;
  const pictures: Held[] = [];
  for (const [at, bytes] of packets.entries()) {
    if (!isVideo(bytes)) continue;
    const { start, payload } = readPacket(bytes);
    if (start) pictures.push({ head: [bytes.subarray(0, payload)], payload: [], at });
    pictures.at(-1)?.payload.push(bytes.subarray(payload));
  }
  const whole = pictures.map((one) => ({ ...one, bytes: Buffer.concat(one.payload) }));
  const times = whole.map(({ bytes }) => timeOf(bytes) ?? 0);
  const first = Math.min(...times);
  const texts = new Map([...times].sort((a, b) => a - b).map((time) => [time, captions((time - first) / 90)]));
  let count = 0;
  const written = new Map(
    whole.map(({ at, head, bytes }, i) => {
      const isMpeg2 = bytes.indexOf(Buffer.from([0, 0, 1, 0xb8])) >= 0 || bytes[9 + (bytes[8] ?? 0) + 3] === 0;
      const slice = firstSlice(bytes, isMpeg2);
      const triplets = texts.get(times[i] ?? 0) ?? [];
      const added = isMpeg2 ? Buffer.from([0, 0, 1, 0xb2, ...userData(triplets)]) : supplement(triplets);
      const pes = Buffer.concat([bytes.subarray(0, slice), added, bytes.subarray(slice)]);
      pes.writeUInt16BE(0, 4); // of any length
      const made = packetsOf(pes, head[0] ?? Buffer.alloc(0), count);
      count += made.length;
      return [at, made];
    }),
  );
  return Buffer.concat(packets.flatMap((bytes, at) => (isVideo(bytes) ? (written.get(at) ?? []) : [bytes])));
}

function packetsOf(pes: Buffer, head: Buffer, count: number): Buffer[] {
  const flags = head[4] ? (head[5] ?? 0) & 0xf0 : 0;
  const clock = flags & 0x10 ? head.subarray(6, 12) : Buffer.alloc(0);
  const made: Buffer[] = [];
  for (let at = 0; at < pes.length; ) {
    const field = at === 0 && flags ? Buffer.concat([Buffer.from([flags]), clock]) : undefined;
    const room = PACKET - 4 - (field ? field.length + 1 : 0);
    const part = pes.subarray(at, at + room);
    const missing = room - part.length;
    const adapted = adaptation(field, missing);
    const control = (adapted.length > 0 ? 0x30 : 0x10) | ((count + made.length) & 15);
    made.push(Buffer.concat([Buffer.from([0x47, at === 0 ? 0x41 : 0x01, 0, control]), adapted, part]));
    at += part.length;
  }
  return made;
}

function adaptation(field: Buffer | undefined, missing: number): Buffer {
  if (field) return Buffer.concat([Buffer.from([field.length + missing]), field, Buffer.alloc(missing, 0xff)]);
  if (missing === 0) return Buffer.alloc(0);
  return Buffer.concat([Buffer.from([missing - 1, 0]), Buffer.alloc(missing, 0xff)], missing);
}

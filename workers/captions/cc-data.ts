// Caption data (cc_data of ATSC A/53) in the user data of pictures.

export type VideoKind = 'mpeg2' | 'h264' | 'hevc';

/** A triplet: its type (0 and 1 are the fields of CEA-608, 2 and 3 are data and start of CEA-708) and two bytes. */
export type Triplet = readonly [type: number, first: number, second: number];

const HEAD = Buffer.from([0xb5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03]); // country, provider, GA94, captions
/** MPEG-2 needs no country and provider. */
const USER_HEAD = HEAD.subarray(3);
const START = Buffer.from([0, 0, 1]);
const REGISTERED = 4;
/** User data is looked at as far as a field of captions can reach. */
const MOST_BYTES = 2048;

/** The triplets of the pictures in a part of an elementary stream, in the order of the bytes. */
export function ccDataOf(bytes: Buffer, kind: VideoKind): Triplet[] {
  const found: Triplet[] = [];
  let at = bytes.indexOf(START);
  while (at >= 0) {
    const next = bytes.indexOf(START, at + 3);
    if (isCarrier(bytes[at + 3], kind)) {
      const unit = bytes.subarray(at + 4, Math.min(next < 0 ? bytes.length : next, at + 4 + MOST_BYTES));
      if (kind === 'mpeg2') readTriplets(unit, USER_HEAD, found);
      else readMessages(unescaped(kind === 'hevc' ? unit.subarray(1) : unit), found);
    }
    at = next;
  }
  return found;
}

/** User data of MPEG-2, or a NAL unit of supplemental information. */
function isCarrier(code: number | undefined, kind: VideoKind): boolean {
  if (code === undefined) return false;
  if (kind === 'mpeg2') return code === 0xb2;
  return kind === 'h264' ? (code & 0x1f) === 6 : ((code >> 1) & 0x3f) === 39;
}

/** Without the bytes that keep a NAL unit free of start codes. */
function unescaped(unit: Buffer): Buffer {
  if (unit.indexOf('\0\0\u0003', 0, 'latin1') < 0) return unit;
  const out = Buffer.alloc(unit.length);
  let [length, zeros] = [0, 0];
  for (const byte of unit) {
    const isEscape = zeros >= 2 && byte === 3;
    zeros = byte === 0 ? zeros + 1 : 0;
    if (!isEscape) out[length++] = byte;
  }
  return out.subarray(0, length);
}

/** A number of supplemental information: bytes of 255, and a last one. */
function sumAt(unit: Buffer, from: number): { value: number; at: number } {
  let [at, value] = [from, 0];
  while (unit[at] === 0xff) {
    value += 255;
    at += 1;
  }
  return { value: value + (unit[at] ?? 0), at: at + 1 };
}

function readMessages(unit: Buffer, found: Triplet[]): void {
  for (let at = 0; at + 2 < unit.length; ) {
    const type = sumAt(unit, at);
    const size = sumAt(unit, type.at);
    if (type.value === REGISTERED) readTriplets(unit.subarray(size.at, size.at + size.value), HEAD, found);
    at = size.at + size.value;
  }
}

function readTriplets(data: Buffer, head: Buffer, found: Triplet[]): void {
  if (data.compare(head, 0, head.length, 0, Math.min(head.length, data.length)) !== 0) return;
  const flags = data[head.length] ?? 0;
  if ((flags & 0x40) === 0) return;
  const from = head.length + 2;
  for (let at = from; at < from + (flags & 0x1f) * 3 && at + 2 < data.length; at += 3) {
    const marker = data[at] ?? 0;
    if (marker & 4) found.push([marker & 3, data[at + 1] ?? 0, data[at + 2] ?? 0]);
  }
}

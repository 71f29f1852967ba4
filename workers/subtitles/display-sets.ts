/** One complete picture of a track; times on the film's clock, ms. */
export interface PicturePacket {
  timeMs: number;
  /** 0 when the container has none. */
  durationMs: number;
  bytes: Buffer;
}

export type PictureCodec = 'pgs' | 'vobsub';

const COMPOSITION = 0x16;
const END = 0x80;
const EPOCH_START = 0x80;
/** Limit of one display set: far more than two full pictures. */
const LARGEST = 8 << 20;

/** The segments of a PGS packet, as far as they are complete. */
function* segmentsOf(bytes: Buffer): Generator<{ type: number; data: Buffer }> {
  for (let at = 0; at + 3 <= bytes.length; ) {
    const end = at + 3 + bytes.readUInt16BE(at + 1);
    if (end > bytes.length) return;
    yield { type: bytes[at] ?? 0, data: bytes.subarray(at + 3, end) };
    at = end;
  }
}

/** True when what a packet shows is built from this packet alone, and all before it is gone. */
export function clearsScreen(codec: PictureCodec, bytes: Buffer): boolean {
  if (codec === 'vobsub') return startsSpu(bytes);
  for (const { type, data } of segmentsOf(bytes)) if (type === COMPOSITION) return (data[7] ?? 0) === EPOCH_START;
  return false;
}

/** A packet of a DVD shows a picture of its own; one without the command to start only ends the picture before it. */
function startsSpu(bytes: Buffer): boolean {
  return commandsOf(bytes).some((command) => command <= 1);
}

/** Commands of the control sequences of a DVD packet. */
function commandsOf(bytes: Buffer): number[] {
  const found: number[] = [];
  if (bytes.length < 4) return found;
  let sequence = bytes.readUInt16BE(2);
  for (let n = 0; n < 64 && sequence + 4 <= bytes.length; n += 1) {
    let at = sequence + 4;
    for (let command = bytes[at]; command !== undefined && command !== 0xff; command = bytes[at]) {
      const length = command <= 2 ? 1 : { 3: 3, 4: 3, 5: 7, 6: 5 }[command];
      if (length === undefined) break;
      found.push(command);
      at += length;
    }
    const next = bytes.readUInt16BE(sequence + 2);
    if (next <= sequence) break;
    sequence = next;
  }
  return found;
}

/** True when a packet shows something, and all that it shows is forced. */
export function isForced(codec: PictureCodec, bytes: Buffer): boolean {
  if (codec === 'vobsub') return commandsOf(bytes).includes(0);
  for (const { type, data } of segmentsOf(bytes)) {
    if (type !== COMPOSITION) continue;
    const count = data[10] ?? 0;
    if (count === 0) return false;
    let at = 11;
    for (let n = 0; n < count; n += 1) {
      const flags = data[at + 3] ?? 0;
      if ((flags & 0x40) === 0) return false;
      at += (flags & 0x80) === 0 ? 8 : 16;
    }
    return true;
  }
  return false;
}

/** True when a packet shows something. */
export function showsPicture(codec: PictureCodec, bytes: Buffer): boolean {
  if (codec === 'vobsub') return startsSpu(bytes);
  for (const { type, data } of segmentsOf(bytes)) if (type === COMPOSITION) return (data[10] ?? 0) > 0;
  return false;
}

/** True when a display set has its last segment. */
function isComplete(bytes: Buffer): boolean {
  let last = 0;
  for (const { type } of segmentsOf(bytes)) last = type;
  return last === END;
}

/** Some writers give each segment of PGS a block of its own; a display set is one packet here. */
export function displaySets(codec: PictureCodec, packets: readonly PicturePacket[]): PicturePacket[] {
  if (codec === 'vobsub') return [...packets];
  const sets: PicturePacket[] = [];
  let open: { first: PicturePacket; parts: Buffer[]; size: number } | undefined;
  for (const packet of packets) {
    if (open && packet.bytes[0] === COMPOSITION) open = undefined; // the set before has no end
    open ??= { first: packet, parts: [], size: 0 };
    open.parts.push(packet.bytes);
    open.size += packet.bytes.length;
    if (isComplete(packet.bytes)) {
      const { first, parts } = open;
      sets.push(parts.length === 1 ? first : { ...first, bytes: Buffer.concat(parts) });
      open = undefined;
    } else if (open.size > LARGEST) open = undefined;
  }
  return sets;
}

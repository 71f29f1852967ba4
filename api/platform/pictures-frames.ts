// The protocol between the API and its picture process: a JSON head and bytes, each with its length in front.
const LENGTHS = 8;

export interface Frame {
  head: unknown;
  bytes: Buffer;
}

export function toFrame(head: unknown, bytes: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat(frameParts(head, bytes));
}

/** A frame in two parts, so that large bytes are sent without a copy. */
export function frameParts(head: unknown, bytes: Uint8Array): [start: Buffer, bytes: Uint8Array] {
  const text = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(LENGTHS);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(bytes.length, 4);
  return [Buffer.concat([lengths, text]), bytes];
}

/**
 * Collects the chunks of a pipe and passes on each whole frame. Throws when a frame longer than `mostBytes` is
 * announced. The memory of a frame is taken once, when its length is known.
 */
export function frameReader(mostBytes: number, receive: (frame: Frame) => void): (chunk: Buffer) => void {
  let start: Buffer = Buffer.alloc(0);
  let whole: Buffer | undefined;
  let filled = 0;
  return (chunk) => {
    let rest = chunk;
    while (rest.length > 0) {
      if (!whole) {
        rest = start.length === 0 ? rest : Buffer.concat([start, rest]);
        start = rest;
        if (rest.length < LENGTHS) return;
        [whole, filled, start] = [Buffer.allocUnsafeSlow(lengthOf(rest, mostBytes)), 0, Buffer.alloc(0)];
      }
      const copied = rest.copy(whole, filled);
      filled += copied;
      rest = rest.subarray(copied);
      if (filled < whole.length) return;
      const frame = split(whole);
      whole = undefined;
      receive(frame);
    }
  };
}

function lengthOf(start: Buffer, mostBytes: number): number {
  const length = LENGTHS + start.readUInt32LE(0) + start.readUInt32LE(4);
  if (length > mostBytes) throw new Error('a frame is too long');
  return length;
}

function split(whole: Buffer): Frame {
  const at = LENGTHS + whole.readUInt32LE(0);
  return { head: JSON.parse(whole.subarray(LENGTHS, at).toString('utf8')), bytes: whole.subarray(at) };
}

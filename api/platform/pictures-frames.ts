// The protocol between the API and its picture process: a JSON head and bytes, each with its length in front.
const LENGTHS = 8;

export interface Frame {
  head: unknown;
  bytes: Buffer;
}

export function toFrame(head: unknown, bytes: Uint8Array = Buffer.alloc(0)): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(LENGTHS);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([lengths, text, bytes]);
}

/**
 * Collects the chunks of a pipe and passes on each whole frame. Throws when a frame longer than `mostBytes` is
 * announced.
 */
export function frameReader(mostBytes: number, receive: (frame: Frame) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    for (let wanted = lengthOf(chunks, size, mostBytes); wanted <= size; wanted = lengthOf(chunks, size, mostBytes)) {
      const whole = Buffer.concat(chunks);
      receive(split(whole.subarray(0, wanted)));
      chunks = [whole.subarray(wanted)];
      size -= wanted;
    }
  };
}

/** Length of the first frame in the chunks; infinite until its lengths have arrived. */
function lengthOf(chunks: Buffer[], size: number, mostBytes: number): number {
  if (size < LENGTHS) return Number.POSITIVE_INFINITY;
  const [first = Buffer.alloc(0)] = chunks;
  const start = first.length >= LENGTHS ? first : Buffer.concat(chunks);
  const length = LENGTHS + start.readUInt32LE(0) + start.readUInt32LE(4);
  if (length > mostBytes) throw new Error('a frame is too long');
  return length;
}

function split(whole: Buffer): Frame {
  const at = LENGTHS + whole.readUInt32LE(0);
  return { head: JSON.parse(whole.subarray(LENGTHS, at).toString('utf8')), bytes: whole.subarray(at) };
}

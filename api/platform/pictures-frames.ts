// How the API and its picture process speak: a head in JSON and bytes, each with its length before it.
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

/** Collects what a pipe brings and tells of each whole frame. Throws when one is announced above `mostBytes`. */
export function frameReader(mostBytes: number, tell: (frame: Frame) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    for (let wanted = lengthOf(chunks, size, mostBytes); wanted <= size; wanted = lengthOf(chunks, size, mostBytes)) {
      const whole = Buffer.concat(chunks);
      tell(split(whole.subarray(0, wanted)));
      chunks = [whole.subarray(wanted)];
      size -= wanted;
    }
  };
}

/** Of the frame that begins the chunks; endless while not even its lengths are there. */
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

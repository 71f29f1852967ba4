import type { Readable } from 'node:stream';

/** The first `most` bytes of a stream; the rest is not read. */
export async function firstBytes(body: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}

/** All bytes of a stream, copied once at most: large buffers make the garbage collector run more often. */
export async function wholeOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}

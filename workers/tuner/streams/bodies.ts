import type { OpenAnswer } from '#platform/outbound-stream.ts';
import { SourceFault } from './fault.ts';
import { Pace, type Rests } from './pace.ts';

const LIST_HEAD = '#EXTM3U';

/** The body as it arrives. */
export async function* chunksOf({ body }: OpenAnswer): AsyncGenerator<Buffer> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    throw new SourceFault('ended', (error as Error).message);
  } finally {
    body.destroy();
  }
}

/** The body in chunks, each valid until the next one is requested; while `rests` is true, with pauses in which more bytes arrive. */
export async function* batchesOf({ body, batches }: OpenAnswer, rests?: Rests): AsyncGenerator<Buffer> {
  try {
    const pace = new Pace(rests);
    yield* batches((bytes) => pace.rest(bytes));
  } catch (error) {
    throw new SourceFault('ended', (error as Error).message);
  } finally {
    body.destroy();
  }
}

const LIST_BYTES = 1 << 20;

/** The text of a list; throws when it is none. */
export async function textOf(answer: OpenAnswer): Promise<string> {
  const text = (await bytesOf(answer, LIST_BYTES)).toString('utf8');
  if (!text.trimStart().startsWith(LIST_HEAD)) throw new SourceFault('not-media', 'the list is no list');
  return text;
}

/** A whole body of at most `most` bytes. */
export async function bytesOf(answer: OpenAnswer, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(answer)) {
    size += chunk.length;
    if (size > most) throw new SourceFault('not-media', `the answer is over ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// A body that the handler reads as it arrives, so that no process holds it whole.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { chunksOf, streamOfBody } from './body.ts';
import { ApiError, invalid } from './errors.ts';

export class StreamedBody {
  readonly #request: IncomingMessage;
  readonly #most: number;
  #isRead = false;
  constructor(request: IncomingMessage, most: number) {
    this.#request = request;
    this.#most = most;
  }

  /** Its length by its header; undefined for a body without a length. */
  get length(): number | undefined {
    const text = this.#request.headers['content-length'];
    return text === undefined ? undefined : Number(text);
  }

  /** The bytes, once. Fails with 413 over the limit of the endpoint. */
  stream(): Readable {
    this.#isRead = true;
    return streamOfBody(this.#request, this.#most);
  }

  /**
   * Reads the bytes and keeps none, unless they are read already: a sender that gets its answer and a closed connection while it
   * sends would see a broken line.
   */
  async drain(): Promise<void> {
    if (this.#isRead) return;
    this.#isRead = true;
    for await (const _ of chunksOf(this.#request, this.#most, { passing: true }));
  }
}

/** The body of a request, of which nothing is read yet. Throws 413 over `maxBytes`, 400 for an empty body. */
export function streamedBodyOf(request: IncomingMessage, maxBytes: number): StreamedBody {
  const body = new StreamedBody(request, maxBytes);
  if ((body.length ?? 0) > maxBytes) throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is too large', { maxBytes });
  const isEmpty = body.length === 0 || (body.length === undefined && !request.headers['transfer-encoding']);
  if (isEmpty) throw invalid(['body'], 'required', 'the body is the bytes themselves');
  return body;
}

/** Schema of such a body; the endpoint also declares `streamed`. */
export const streamedBody = z.instanceof(StreamedBody, { error: 'the bytes' });

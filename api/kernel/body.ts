// Reads request bodies within limits for one request and for all requests together.
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { ApiError } from './errors.ts';

/** Limits of bytes in flight in this process; uploads may pause and have a limit of their own. */
const MOST_IN_FLIGHT = { bodies: 32 << 20, uploads: 96 << 20 };

const inFlight = { bodies: 0, uploads: 0 };

const tooLarge = (maxBytes: number): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', 'The body is too large', { maxBytes });

type Share = keyof typeof inFlight;

function take(share: Share, bytes: number): void {
  inFlight[share] += bytes;
  if (inFlight[share] > MOST_IN_FLIGHT[share])
    throw new ApiError('SERVICE_STARTING', 'Too much is being sent at once', { waitingFor: 'capacity' });
}

/** Bytes of all bodies that are being read. */
export const bytesInFlight = (): number => inFlight.bodies + inFlight.uploads;

/** Chunks of a body as they arrive. Throws 413 over `maxBytes`, 503 while too many bytes of all requests are in flight. */
export async function* chunksOf(
  request: IncomingMessage,
  maxBytes: number,
  { passing = false }: { /** Each chunk is stored before the next is read. */ passing?: boolean } = {},
): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const share = isUpload(request) ? 'uploads' : 'bodies';
  let size = 0;
  let held = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      held += chunk.length;
      take(share, chunk.length);
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
      if (!passing) continue;
      inFlight[share] -= held;
      held = 0;
    }
  } finally {
    inFlight[share] -= held;
  }
}

/** Read ahead of a slow receiver. */
const AHEAD_BYTES = 256 << 10;

/** The bytes as they arrive, as a stream; a stream of an iterator takes twice the processor. Fails like `chunksOf`. */
export function streamOfBody(request: IncomingMessage, maxBytes: number): Readable {
  const share = isUpload(request) ? 'uploads' : 'bodies';
  let size = 0;
  let held = 0;
  const release = (): void => {
    inFlight[share] -= held;
    held = 0;
  };
  const body = new Transform({
    highWaterMark: AHEAD_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      release();
      size += chunk.length;
      held = chunk.length;
      try {
        take(share, chunk.length);
        if (size > maxBytes) throw tooLarge(maxBytes);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
    destroy(error, done) {
      release();
      done(error);
    },
  });
  pipeline(request, body, () => undefined); // the reader gets its errors
  return body;
}

/** The whole body. Throws like `chunksOf`. */
export async function wholeBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(request, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const uploads = new WeakSet<IncomingMessage>();

/** Marks the body as an upload, which may pause for some minutes and has no time limit. */
export function noteUpload(request: IncomingMessage): void {
  uploads.add(request);
}

export const isUpload = (request: IncomingMessage): boolean => uploads.has(request);

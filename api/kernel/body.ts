// The bytes of a request's body: how many are taken, of one request and of all together.
import type { IncomingMessage } from 'node:http';
import { ApiError } from './errors.ts';

/** Of all bodies that this process reads at once: uploads may pause, so they have a share of their own. */
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

/** Bytes of bodies that are being read now. */
export const bytesInFlight = (): number => inFlight.bodies + inFlight.uploads;

/** The chunks of a body as they come. Throws 413 over `maxBytes`, 503 while the bodies of all requests together are too many. */
export async function* chunksOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const share = isUpload(request) ? 'uploads' : 'bodies';
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      take(share, chunk.length);
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } finally {
    inFlight[share] -= size;
  }
}

/** The whole body. Throws as `chunksOf`. */
export async function wholeBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(request, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const uploads = new WeakSet<IncomingMessage>();

/** Notes that the body is an upload: it may pause for some minutes, and take as long as its sender needs. */
export function noteUpload(request: IncomingMessage): void {
  uploads.add(request);
}

export const isUpload = (request: IncomingMessage): boolean => uploads.has(request);

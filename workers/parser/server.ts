import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Log } from '#platform/log.ts';
import { PICTURES_PATH } from '#platform/parser.ts';
import { type Frame, frameReader, toFrame } from '#platform/pictures-frames.ts';
import { openInChild } from '#platform/pictures-pool.ts';
import {
  type ChildAnswer,
  type ChildRequest,
  MOST_FRAME_BYTES,
  type OpenPicture,
  ParserUnavailable,
  Refused,
} from '#platform/pictures-protocol.ts';
import { mediaTypes, type PictureFormat } from '#platform/pictures-sniff.ts';

const formats = z.enum(Object.keys(mediaTypes) as [PictureFormat, ...PictureFormat[]]);
const pixels = z.number().positive();

/** What API pods and workers ask for: a `ChildRequest`. */
const Ask = z.strictObject({
  format: formats,
  rules: z.strictObject({
    accepts: z.array(formats),
    minSide: pixels,
    maxSide: pixels,
    maxPixels: pixels,
    maxFrames: pixels,
    maxMs: pixels.exactOptional(),
  }),
  make: z
    .strictObject({
      format: z.enum(['webp', 'png', 'avif']),
      width: pixels.int(),
      height: pixels.int(),
      fit: z.enum(['cover', 'contain', 'inside']),
      enlarge: z.boolean().exactOptional(),
      lossless: z.boolean().exactOptional(),
      background: z.string().exactOptional(),
      animated: z.boolean().exactOptional(),
      maxBytes: pixels.exactOptional(),
    })
    .exactOptional(),
  facts: z.boolean(),
}) satisfies z.ZodType<ChildRequest>;

/** A request that is none of ours. */
class Malformed extends Error {}

export interface Parser {
  server: Server;
  /** Opens a picture of its own: true when it can open those of others. */
  tryOut: () => Promise<boolean>;
}

/** Takes a frame with a picture and answers with one; it knows no store, no key and no address. */
export function createParser(log: Log, open: OpenPicture = openInChild): Parser {
  let ready = false;
  const state = (up: boolean) => ({ status: up ? 200 : 503, body: Buffer.from(JSON.stringify({ ready })) });
  const routes: Record<string, (request: IncomingMessage) => Promise<Said> | Said> = {
    'GET /live': () => state(true),
    'GET /ready': () => state(ready),
    [`POST ${PICTURES_PATH}`]: async (request) => ({ status: 200, body: await opened(await frameOf(request), open) }),
  };
  const listener: RequestListener = (request, response) => {
    const route = routes[`${request.method} ${request.url}`] ?? (() => ({ status: 404, body: Buffer.alloc(0) }));
    Promise.resolve(route(request)).then(
      (said) => send(response, said),
      (error: unknown) => {
        if (!(error instanceof Malformed)) log.warn({ err: (error as Error).message }, 'a picture cannot be opened');
        send(response, { status: error instanceof Malformed ? 400 : 503, body: Buffer.alloc(0) });
      },
    );
  };
  return {
    server: createServer({ keepAlive: false, requestTimeout: 60_000 }, listener),
    tryOut: async () => {
      const rules = { accepts: ['png' as const], minSide: 1, maxSide: 1, maxPixels: 1, maxFrames: 1 };
      ready = await open({ format: 'png', rules, facts: false }, PIXEL).then(
        () => true,
        (error: Error) => {
          log.error({ err: error.message }, 'nothing can be opened here');
          return false;
        },
      );
      return ready;
    },
  };
}

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Said {
  status: number;
  body: Buffer;
}

function send(response: ServerResponse, { status, body }: Said): void {
  response.writeHead(status, { 'Content-Length': body.length, Connection: 'close' });
  response.end(body);
}

/** The one frame that a request is. Throws `Malformed`. */
async function frameOf(request: IncomingMessage): Promise<Frame> {
  let whole: Frame | undefined;
  const read = frameReader(MOST_FRAME_BYTES, (frame) => {
    whole = frame;
  });
  try {
    for await (const chunk of request) read(chunk as Buffer);
  } catch (error) {
    throw new Malformed((error as Error).message);
  }
  if (!whole) throw new Malformed('no whole frame');
  return whole;
}

/** The answer's frame. Throws `Malformed`, and `ParserUnavailable` when no process can be had. */
async function opened({ head, bytes }: Frame, open: OpenPicture): Promise<Buffer> {
  const ask = Ask.safeParse(head);
  if (!ask.success) throw new Malformed(ask.error.message);
  try {
    const done = await open(ask.data, bytes);
    return toFrame({ ok: true, facts: done.facts } satisfies ChildAnswer, done.bytes);
  } catch (error) {
    if (error instanceof ParserUnavailable || !(error instanceof Refused)) throw error;
    return toFrame({ ok: false, reason: error.reason, detail: '' } satisfies ChildAnswer);
  }
}

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
const part = z.number().min(0).max(1);

/** A request of API pods and workers: a `ChildRequest`. */
const Task = z.strictObject({
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
      format: z.enum(['webp', 'png', 'avif', 'jpeg']),
      width: pixels.int(),
      height: pixels.int(),
      fit: z.enum(['cover', 'contain', 'inside', 'fill']),
      enlarge: z.boolean().exactOptional(),
      lossless: z.boolean().exactOptional(),
      background: z.string().exactOptional(),
      animated: z.boolean().exactOptional(),
      maxBytes: pixels.exactOptional(),
      quality: z.int().min(1).max(100).exactOptional(),
      rotate: z.literal([0, 90, 180, 270]).exactOptional(),
      crop: z.strictObject({ x: part, y: part, width: part, height: part }).exactOptional(),
      focus: z.strictObject({ x: part, y: part }).exactOptional(),
      blur: z.number().min(0).max(100).exactOptional(),
    })
    .exactOptional(),
  facts: z.boolean(),
  mosaic: z
    .strictObject({
      lengths: z.array(pixels.int()).min(1).max(4),
      width: pixels.int().max(4096),
      height: pixels.int().max(4096),
    })
    .exactOptional(),
  tile: z
    .strictObject({
      title: z.string().max(300),
      background: z.string().regex(/^#[0-9a-f]{6}$/),
      width: pixels.int().max(4096),
      height: pixels.int().max(4096),
    })
    .exactOptional(),
  icon: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('draw') }),
      z.strictObject({
        kind: z.literal('squares'),
        sizes: z.array(pixels.int().max(1024)).min(1).max(20),
        isDrawn: z.boolean(),
      }),
      z.strictObject({
        kind: z.literal('unpack'),
        limits: z.strictObject({ entries: pixels, bytes: pixels.max(64 << 20), ratio: pixels, entryBytes: pixels }),
      }),
    ])
    .exactOptional(),
}) satisfies z.ZodType<ChildRequest>;

/** A malformed request. */
class Malformed extends Error {}

export interface Parser {
  server: Server;
  /** Opens a test picture: true if the sandbox works. */
  tryOut: () => Promise<boolean>;
}

/** Receives a frame with a picture and returns one; it knows no store, no key and no address. */
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
      (frame) => send(response, frame),
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

/** The single frame of a request. Throws `Malformed`. */
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

/** The response frame. Throws `Malformed`, and `ParserUnavailable` when no process is available. */
async function opened({ head, bytes }: Frame, open: OpenPicture): Promise<Buffer> {
  const task = Task.safeParse(head);
  if (!task.success) throw new Malformed(task.error.message);
  try {
    const done = await open(task.data, bytes);
    const answer = { ok: true as const, facts: done.facts, ...(done.icon && { icon: done.icon }) };
    return toFrame(answer satisfies ChildAnswer, done.bytes);
  } catch (error) {
    if (error instanceof ParserUnavailable || !(error instanceof Refused)) throw error;
    return toFrame({ ok: false, reason: error.reason, detail: '' } satisfies ChildAnswer);
  }
}

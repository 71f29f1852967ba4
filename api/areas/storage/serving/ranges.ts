// Remote files for programs that read addresses, such as ffmpeg: each under a random path of this process on loopback.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RANGE_HOST } from '#platform/media-bytes.ts';
import { BLOCK_BYTES, type StorageReader } from '../readers/reader.ts';

/** Reads at most one block at a time. */
type BlockReader = Pick<StorageReader, 'read'>;

/** A remote file whose size is known. */
export interface RemoteFile {
  reader: BlockReader;
  path: string;
  size: number;
  modifiedMs: number;
}

interface Served extends RemoteFile {
  usedAt: number;
}

const MOST_SERVED = 5000;
/** An address that is not read for this long is forgotten. */
const KEPT_MS = 24 * 60 * 60_000;
/** The first reads are short, so that the first byte is not late. */
const FIRST_BYTES = 256 << 10;

const served = new Map<string, Served>();
/** The token of a file, so that it has one address. */
const tokens = new WeakMap<BlockReader, Map<string, string>>();
let running: Promise<Server> | undefined;

async function start(): Promise<Server> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, RANGE_HOST).unref();
  await once(server, 'listening');
  return server;
}

/** The address of a remote file for children of this process. It ends with the extension of the file and names nothing else. */
export async function addressOf(file: RemoteFile): Promise<string> {
  running ??= start();
  const { port } = (await running).address() as AddressInfo;
  const known = tokens.get(file.reader) ?? new Map<string, string>();
  tokens.set(file.reader, known);
  const key = `${file.path}\0${file.size}\0${file.modifiedMs}`;
  const token = known.get(key) ?? randomBytes(24).toString('base64url');
  if (!served.has(token)) forgetOld(known);
  known.set(key, token);
  served.delete(token); // the most recently used are the last
  served.set(token, { ...file, usedAt: Date.now() });
  const extension = /^\.[A-Za-z0-9]{1,8}$/.exec(posix.extname(file.path))?.[0] ?? '';
  return `http://${RANGE_HOST}:${port}/${token}/file${extension}`;
}

function forgetOld(known: Map<string, string>): void {
  const now = Date.now();
  for (const [token, { usedAt }] of served) {
    if (served.size < MOST_SERVED && now - usedAt < KEPT_MS) break;
    served.delete(token);
  }
  for (const [key, token] of known) if (!served.has(token)) known.delete(key);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const file = fileAt(request);
  if (!file) {
    response.writeHead(404).end();
    return;
  }
  file.usedAt = Date.now();
  await sendRange(file, { request, response });
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Bytes of the first read. */
  firstBytes?: number;
}

/** Answers a GET or HEAD with the requested range. Reading ends when the client leaves. */
export async function sendRange(file: RemoteFile, { request, response, firstBytes }: Exchange): Promise<void> {
  const range = rangeOf(request.headers.range, file.size);
  const common = { 'Accept-Ranges': 'bytes', 'X-Modified-Ms': String(file.modifiedMs) };
  if (range === 'none') {
    response.writeHead(416, { ...common, 'Content-Range': `bytes */${file.size}` }).end();
    return;
  }
  const sent = range ?? { start: 0, end: file.size - 1 };
  const length = Math.max(0, sent.end - sent.start + 1);
  const partly = range && { 'Content-Range': `bytes ${range.start}-${range.end}/${file.size}` };
  response.writeHead(range ? 206 : 200, { ...common, 'Content-Length': length, ...partly });
  if (request.method === 'HEAD' || length === 0) response.end();
  else await pipeline(streamOf(file, sent, firstBytes), response).catch(() => response.destroy());
}

function fileAt({ url, method }: IncomingMessage): Served | undefined {
  const [, token = '', name = ''] = (url ?? '').split('/', 3);
  return name.startsWith('file') && (method === 'GET' || method === 'HEAD') ? served.get(token) : undefined;
}

interface Range {
  start: number;
  end: number;
}

/** `none` cannot be satisfied; undefined without a range. */
function rangeOf(header: string | undefined, size: number): Range | 'none' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const last = size - 1;
  const range =
    from === ''
      ? { start: Math.max(0, size - Number(to)), end: last }
      : { start: Number(from), end: to === '' ? last : Math.min(Number(to), last) };
  return range.start > range.end ? 'none' : range;
}

/** The bytes of a range, in blocks that grow to 4 MiB; the next block is read while one is sent. */
export function streamOf(
  { reader, path }: Pick<RemoteFile, 'reader' | 'path'>,
  { start, end }: Range,
  firstBytes = FIRST_BYTES,
): Readable {
  const stopped = new AbortController();
  const stream = Readable.from(blocks(), { objectMode: false, highWaterMark: FIRST_BYTES });
  stream.once('close', () => stopped.abort());
  return stream;

  async function* blocks(): AsyncGenerator<Buffer> {
    let at = start;
    let size = firstBytes;
    let ahead = next(at, size);
    while (at <= end) {
      const block = await ahead;
      if (block.length === 0) throw new Error('the file is shorter than it was');
      at += block.length;
      size = Math.min(size * 4, BLOCK_BYTES);
      if (at <= end) ahead = next(at, size);
      yield block;
    }
  }

  function next(from: number, size: number): Promise<Buffer> {
    const block = reader.read(
      path,
      { start: from, length: Math.min(size, end - from + 1) },
      { signal: stopped.signal },
    );
    block.catch(() => undefined); // a reader that stops does not wait for it
    return block;
  }
}

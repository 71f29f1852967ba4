import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { type ByteRange, parseRange } from './ranges.ts';

/** Content that is sent whole or in ranges. */
export interface Sendable {
  size: number;
  /** Strong and without quotes: it never names other bytes. */
  etag: string;
  modifiedAt: Date;
  type: string;
  cacheControl: string;
  /** Bytes of the range, inclusive. */
  read(range: ByteRange): Promise<Readable>;
}

/** Answers 200, 206, 304 or 416 by the request headers. HEAD reads nothing. */
export async function sendRanged(call: Call, file: Sendable): Promise<Bytes> {
  const { reply, headers, method } = call;
  const etag = `"${file.etag}"`;
  reply.header('ETag', etag);
  reply.header('Last-Modified', file.modifiedAt.toUTCString());
  reply.header('Cache-Control', file.cacheControl);
  reply.header('Accept-Ranges', 'bytes');
  if (unchanged(call, etag, file.modifiedAt)) {
    reply.status(304);
    return { body: null };
  }
  const ranges = rangeHolds(headers['if-range'], etag, file.modifiedAt)
    ? parseRange(headers.range, file.size)
    : 'whole';
  if (ranges === 'unsatisfiable') {
    reply.header('Content-Range', `bytes */${file.size}`);
    throw new ApiError('RANGE_NOT_SATISFIABLE', 'The range is beyond the end', { sizeBytes: file.size });
  }
  if (ranges === 'whole') {
    const body = method === 'HEAD' || file.size === 0 ? null : await file.read({ start: 0, end: file.size - 1 });
    return { body, type: file.type, length: file.size };
  }
  reply.status(206);
  const [only] = ranges;
  if (ranges.length > 1 || !only) return multipart(call, file, ranges);
  reply.header('Content-Range', `bytes ${only.start}-${only.end}/${file.size}`);
  return { body: method === 'HEAD' ? null : await file.read(only), type: file.type, length: only.end - only.start + 1 };
}

function unchanged({ headers }: Call, etag: string, modifiedAt: Date): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined) return knowsEtag(known, etag);
  const since = headers['if-modified-since'];
  return since !== undefined && Math.floor(modifiedAt.getTime() / 1000) * 1000 <= Date.parse(since);
}

/** If-Range: ranges of changed content would not fit the client's bytes. */
function rangeHolds(condition: string | string[] | undefined, etag: string, modifiedAt: Date): boolean {
  if (condition === undefined) return true;
  const text = String(condition).trim();
  return text.startsWith('"') ? text === etag : text === modifiedAt.toUTCString();
}

function multipart(call: Call, file: Sendable, ranges: readonly ByteRange[]): Bytes {
  const border = randomBytes(12).toString('hex');
  const heads = ranges.map(
    ({ start, end }) =>
      `\r\n--${border}\r\nContent-Type: ${file.type}\r\nContent-Range: bytes ${start}-${end}/${file.size}\r\n\r\n`,
  );
  const tail = `\r\n--${border}--\r\n`;
  const bytes = ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
  const length = bytes + heads.reduce((sum, head) => sum + Buffer.byteLength(head), Buffer.byteLength(tail));
  async function* parts(): AsyncGenerator<Buffer> {
    for (const [i, range] of ranges.entries()) {
      yield Buffer.from(heads[i] ?? '');
      yield* (await file.read(range)) as AsyncIterable<Buffer>;
    }
    yield Buffer.from(tail);
  }
  const body = call.method === 'HEAD' ? null : Readable.from(parts(), { objectMode: false, highWaterMark: 1 << 20 });
  return { body, type: `multipart/byteranges; boundary=${border}`, length };
}

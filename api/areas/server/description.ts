import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip as gzipCallback } from 'node:zlib';
import type { Area, Bytes, Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { openApi } from '#kernel/openapi.ts';
import { fullVersion } from './version.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzipCallback);

interface Described {
  plain: Buffer;
  brotli: Buffer;
  gzip: Buffer;
  etag: string;
}

let served: readonly Area[] = [];
let described: Promise<Described> | undefined;

/** What the description is of: the list that serves the routes, so the same bytes on every pod of a version. */
export function describe(areas: readonly Area[]): void {
  served = areas;
  described = undefined;
}

export function describedAreas(): readonly Area[] {
  return served;
}

/** Made when it is first asked for: a second of CPU that no start waits for. */
async function make(): Promise<Described> {
  const plain = Buffer.from(JSON.stringify(openApi(served, fullVersion)));
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const [brotli, gzip] = await Promise.all([compressBrotli(plain), compressGzip(plain)]);
  return { plain, brotli, gzip, etag };
}

export async function description({ headers, reply }: Call): Promise<Bytes> {
  described ??= make();
  const { plain, brotli, gzip, etag } = await described;
  reply.header('ETag', etag);
  reply.header('Cache-Control', 'no-cache');
  reply.header('Access-Control-Allow-Origin', '*');
  reply.header('Vary', 'Accept-Encoding');
  if (knowsEtag(headers['if-none-match'], etag)) {
    reply.status(304);
    return { body: null };
  }
  const accepted = String(headers['accept-encoding'] ?? '');
  const coding = ['br', 'gzip'].find((name) => accepted.includes(name));
  if (coding) reply.header('Content-Encoding', coding);
  const body = coding === 'br' ? brotli : coding === 'gzip' ? gzip : plain;
  return { body, type: 'application/json; charset=utf-8', length: body.length };
}

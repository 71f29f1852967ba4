import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip as gzipCallback } from 'node:zlib';
import { codingFor } from '#kernel/content-coding.ts';
import type { Area, Bytes, Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzipCallback);

interface Described {
  plain: Buffer;
  brotli: Buffer;
  gzip: Buffer;
  etag: string;
}

let load: () => Promise<readonly Area[]> = async () => [];
let described: Promise<Described> | undefined;

/** Sets how the areas that serve the routes are loaded, so that all of them can be described. */
export function describe(areas: () => Promise<readonly Area[]>): void {
  load = areas;
}

export function describedAreas(): Promise<readonly Area[]> {
  return load();
}

/** Written by `node hack/generate.ts`; the gate compares it with the served routes. */
const FILE = new URL('../../openapi.json', import.meta.url);
/** One level below the maximum, which takes ten times as long for a tenth of the size. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };

/** Line ends and indentation. Strings of JSON hold no line ends, so that parsing 2 MB is not needed. */
const INDENTATION = /\n */g;

/** Minified, and compressed once on other threads. */
async function make(): Promise<Described> {
  const plain = Buffer.from((await readFile(FILE, 'utf8')).replace(INDENTATION, ''));
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const [brotli, gzip] = await Promise.all([compressBrotli(plain, { params }), compressGzip(plain)]);
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
  const coding = codingFor(headers['accept-encoding']);
  if (coding) reply.header('Content-Encoding', coding);
  const body = coding === 'br' ? brotli : coding === 'gzip' ? gzip : plain;
  return { body, type: 'application/json; charset=utf-8', length: body.length };
}

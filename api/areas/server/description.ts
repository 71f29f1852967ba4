import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Area, Bytes, Call } from '#kernel/endpoint.ts';
import { openApi } from '#kernel/openapi.ts';
import { fullVersion } from './version.ts';

interface Described {
  areas: readonly Area[];
  plain: Buffer;
  brotli: Buffer;
  gzip: Buffer;
  etag: string;
}

let described: Described | undefined;

/** Made once at start from the list that serves the routes; the same bytes on every pod of a version. */
export function describe(areas: readonly Area[]): Described {
  const plain = Buffer.from(JSON.stringify(openApi(areas, fullVersion)));
  described = {
    areas,
    plain,
    brotli: brotliCompressSync(plain),
    gzip: gzipSync(plain),
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
  };
  return described;
}

export function describedAreas(): readonly Area[] {
  return described?.areas ?? [];
}

export function description({ headers, reply }: Call): Bytes {
  if (!described) throw new Error('describe() has not run');
  reply.header('ETag', described.etag);
  reply.header('Cache-Control', 'no-cache');
  reply.header('Access-Control-Allow-Origin', '*');
  reply.header('Vary', 'Accept-Encoding');
  if (headers['if-none-match'] === described.etag) {
    reply.status(304);
    return { body: null };
  }
  const accepted = String(headers['accept-encoding'] ?? '');
  const coding = ['br', 'gzip'].find((name) => accepted.includes(name));
  if (coding) reply.header('Content-Encoding', coding);
  const body = coding === 'br' ? described.brotli : coding === 'gzip' ? described.gzip : described.plain;
  return { body, type: 'application/json; charset=utf-8', length: body.length };
}

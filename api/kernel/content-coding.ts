// Compression of JSON answers on the threads of zlib.
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

export type Coding = 'br' | 'gzip';

const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** Shorter answers fit into one packet. */
const WORTH_BYTES = 1024;
/** Longer headers are not written by browsers. */
const MOST_HEADER = 500;

/** The smallest coding that the client takes; undefined for none. */
export function codingFor(accept: string | string[] | undefined): Coding | undefined {
  const taken = String(accept ?? '')
    .slice(0, MOST_HEADER)
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
    .filter(([, q = 'q=1']) => Number(q.slice(2)) > 0)
    .map(([name]) => name);
  return (['br', 'gzip'] as const).find((name) => taken.includes(name));
}

/** Entity tags of compressed answers name the coding; handlers compare the tags without it. */
export function withoutCodings(headers: IncomingHttpHeaders): void {
  for (const name of ['if-none-match', 'if-match'] as const) {
    const value = headers[name];
    if (value?.includes('~')) headers[name] = value.replaceAll('~br"', '"').replaceAll('~gzip"', '"');
  }
}

/** Compresses the text of an answer if that is worth it. */
export async function sendText(ctx: Context, text: string): Promise<void> {
  ctx.vary('Accept-Encoding');
  const coding = text.length < WORTH_BYTES ? undefined : codingFor(ctx.headers['accept-encoding']);
  const etag = ctx.response.get('ETag');
  if (coding && etag) ctx.set('ETag', etag.replace(/"$/, `~${coding}"`));
  if (!coding) {
    ctx.body = text;
    return;
  }
  ctx.set('Content-Encoding', coding);
  ctx.body = coding === 'br' ? await brotliOf(text, { params }) : await gzipOf(text, { level: 5 });
}

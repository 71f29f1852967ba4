import type { Bytes, Call, Deps } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { ParserUnavailable } from '#platform/pictures.ts';
import { builtInIcon, drawingKey, drawingOf } from '../built-in/built-in.ts';
import type { ImageQuery } from '../icons.schemas.ts';
import type { IconRow } from '../icons.store.ts';
import { BUILT_IN_SIZES } from '../icons.view.ts';
import { partFor, readPart } from './kept.ts';

const YEAR = 'private, max-age=31536000, immutable';
const REVALIDATE = 'private, no-cache';
const CACHE_BYTES = 64 << 20;

/** Recently served pictures of this process, the least recent first. */
const cache = new Map<string, Promise<Buffer>>();
let cached = 0;

async function remembered(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
  const known = cache.get(key);
  if (known) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const made = make();
  cache.set(key, made);
  try {
    const { length } = await made;
    cached += length;
    for (const [oldest, held] of cache) {
      if (cached <= CACHE_BYTES) break;
      if (held === made) continue;
      cache.delete(oldest);
      cached -= (await held).length;
    }
  } catch (error) {
    cache.delete(key);
    throw error;
  }
  return made;
}

type Found = Pick<IconRow, 'hash' | 'parts' | 'drawing' | 'version'>;

async function findIcon({ db }: Call, id: string): Promise<Found> {
  const fixed = builtInIcon(id);
  if (fixed) return { hash: null, parts: [], drawing: drawingKey(fixed), version: 1 };
  const row = await db('icons').where({ id }).first('hash', 'parts', 'drawing', 'version');
  if (!row) throw notFound();
  return row;
}

/** Throws 503 while nothing can be drawn. */
async function drawn(
  { pictures }: Deps,
  drawing: string,
  { size, format }: { size: number; format: 'png' | 'webp' },
): Promise<Buffer> {
  const svg = drawingOf(drawing);
  if (!svg) throw notFound();
  const side = BUILT_IN_SIZES.find((one) => one >= size) ?? size;
  try {
    return await pictures.remake(svg, { format, width: side, height: side, fit: 'contain', lossless: true });
  } catch (error) {
    if (!(error instanceof ParserUnavailable)) throw error;
    throw new ApiError('SERVICE_STARTING', 'Pictures cannot be opened just now', { waitingFor: 'parser' });
  }
}

function formatOf({ format }: ImageQuery, accept: string | undefined): 'png' | 'webp' {
  if (format !== 'auto') return format;
  return accept === undefined || /image\/webp|image\/\*|\*\/\*/i.test(accept) ? 'webp' : 'png';
}

/** The picture of an icon, from the memory of this process or from the object store. */
export async function serveImage(call: Call, id: string, query: ImageQuery): Promise<Bytes> {
  const icon = await findIcon(call, id);
  const format = formatOf(query, call.headers.accept);
  const found = icon.hash === null ? undefined : partFor(icon.parts, query.size, format);
  const size = found?.part.size ?? query.size;
  const etag = `"${id.slice(-12)}-${icon.version}-${size}-${format}"`;
  call.reply.header('ETag', etag);
  call.reply.header('Cache-Control', query.v === String(icon.version) ? YEAR : REVALIDATE);
  call.reply.header('X-Content-Type-Options', 'nosniff');
  call.reply.header('Content-Security-Policy', "default-src 'none'");
  if (query.format === 'auto') call.reply.header('Vary', 'Accept');
  if (knowsEtag(call.headers['if-none-match'], etag)) {
    call.reply.status(304);
    return { body: null };
  }
  const { hash, drawing } = icon;
  const body = await remembered(`${hash ?? drawing} ${size} ${format}`, () =>
    hash && found ? readPart(call.deps, hash, found) : drawn(call.deps, drawing ?? '', { size, format }),
  );
  return { body, type: `image/${format}`, length: body.length };
}

import { requirePermission } from '#identity/principal.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { originalPlace } from '#kernel/images.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { variantBytes } from './bytes.ts';
import type { ServedRow } from './images.view.ts';
import { acceptedFormats, type MadeFormat, openFormat, type Variant, type VariantQuery, variantOf } from './variant.ts';
import { madeVariants } from './variants.store.ts';

export interface ServeQuery extends VariantQuery {
  format: 'auto' | MadeFormat | 'original';
  v?: string | undefined;
}

const IMMUTABLE = 'private, max-age=31536000, immutable';
const REVALIDATE = 'private, no-cache';

/** Sends an image that the caller may see, in the requested size and format. */
export async function serveImage(call: Call, image: ServedRow, query: ServeQuery): Promise<Bytes> {
  imageHeaders(call, query.format === 'auto');
  if (query.format === 'original') return serveOriginal(call, image, query);
  const { variant, isMade } = await chosenVariant(call, image, query);
  const etag = `"${image.id}-${image.version}-${variant.name}"`;
  keepHeaders(call, etag, query.v === String(image.version));
  if (knowsEtag(call.headers['if-none-match'], etag)) return unchanged(call);
  const body = await variantBytes(call, { ...image, variant }, isMade);
  return { body, type: variant.type, length: body.length };
}

export function imageHeaders({ reply }: Call, varies: boolean): void {
  reply.header('Content-Security-Policy', "default-src 'none'");
  reply.header('Content-Disposition', 'inline');
  if (varies) reply.header('Vary', 'Accept');
}

export function keepHeaders({ reply }: Call, etag: string, current: boolean): void {
  reply.header('ETag', etag);
  reply.header('Cache-Control', current ? IMMUTABLE : REVALIDATE);
}

export function unchanged({ reply }: Call): Bytes {
  reply.status(304);
  return { body: null };
}

async function chosenVariant(
  call: Call,
  image: ServedRow,
  query: ServeQuery,
): Promise<{ variant: Variant; isMade: boolean }> {
  const accepted = query.format === 'auto' ? acceptedFormats(call.headers.accept) : [];
  const formats: MadeFormat[] =
    query.format === 'auto' || query.format === 'original'
      ? [...accepted, image.alpha ? 'png' : 'jpeg']
      : [query.format];
  const variants = new Map(formats.map((format) => [format, variantOf(image, query, format)]));
  const names = [...variants.values()].map(({ name }) => name);
  const made = new Set(await madeVariants(call.db, image.sha256, names));
  const exists = (format: MadeFormat): boolean => made.has(variants.get(format)?.name ?? '');
  const [only = 'jpeg'] = formats;
  const format = query.format === 'auto' ? openFormat(image, accepted, exists) : only;
  return { variant: variants.get(format) ?? variantOf(image, query, format), isMade: exists(format) };
}

/** The untouched bytes, for those who edit. Throws 403 for others. */
async function serveOriginal(call: Call, image: ServedRow, { v }: ServeQuery): Promise<Bytes> {
  requirePermission(call.who, 'item:edit');
  const etag = `"${image.id}-${image.sha256.slice(0, 22)}-original"`;
  keepHeaders(call, etag, v === String(image.version));
  if (knowsEtag(call.headers['if-none-match'], etag)) return unchanged(call);
  try {
    const { bucket, key } = originalPlace(image);
    const body = await call.deps.objects.get(bucket, key);
    return { body, type: image.mime, length: image.size_bytes };
  } catch (error) {
    throw error instanceof ObjectMissing ? notFound() : error;
  }
}

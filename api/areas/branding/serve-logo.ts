import type { Bytes, Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import type { PictureMake, Pictures } from '#platform/pictures.ts';
import type { Format, Kind, LogoQuery, Scheme } from './branding.schemas.ts';
import { chosen, hashAt, versionOf } from './branding.view.ts';
import { builtIn, paintBuiltIn } from './built-in.ts';
import { type Brand, brandOf } from './memory.ts';

const NEVER = 'no-store';
const YEAR = 'public, max-age=31536000, immutable';
const REVALIDATE = 'public, no-cache';

interface Place {
  kind: Kind;
  scheme: Scheme;
}

interface Source {
  bytes: Buffer;
  hash: string;
  /** Whether this replaces a logo that is unavailable. */
  standIn: boolean;
}

async function sourceOf(brand: Brand, { kind, scheme }: Place, pictures: Pictures): Promise<Source> {
  const found = chosen(brand, kind, scheme);
  if (found?.logo.bytes) return { bytes: found.logo.bytes, hash: found.logo.made, standIn: false };
  const painted = await paintBuiltIn(pictures, scheme).catch(() => undefined);
  const { small, hash } = builtIn[scheme];
  const standIn = found !== undefined || painted === undefined;
  return painted ? { bytes: painted, hash, standIn } : { bytes: small, hash: `small ${hash}`, standIn };
}

/** The best format that the client accepts; WebP without an Accept header or with a wildcard. */
export function formatFor(accept: string | undefined): Format {
  const takes = (type: string): boolean => (accept ?? '*/*').toLowerCase().includes(type);
  if (takes('image/webp') || takes('*/*') || takes('image/*')) return 'webp';
  return takes('image/avif') ? 'avif' : 'png';
}

const MOST_MADE = 200;
/** Rendered sizes by source and options; only a few exist. */
const madeSizes = new Map<string, Promise<Buffer>>();

interface Rendition {
  size: number | undefined;
  format: Format;
  square: boolean;
  /** Padding colour of a square. */
  background: string | null;
  animated: boolean;
}

async function sized(source: Source, rendition: Rendition, pictures: Pictures): Promise<Buffer> {
  const key = JSON.stringify([source.hash, rendition]);
  const known = madeSizes.get(key);
  if (known) return known;
  const made = pictures.remake(source.bytes, makeOf(rendition));
  madeSizes.set(key, made);
  made.catch(() => madeSizes.delete(key));
  const [oldest] = madeSizes.keys();
  if (madeSizes.size > MOST_MADE && oldest !== undefined) madeSizes.delete(oldest);
  return made;
}

function makeOf({ size = 1024, format, square, background, animated }: Rendition): PictureMake {
  const sides = { format, width: size, height: size, lossless: format !== 'avif' };
  if (!square) return { ...sides, fit: 'inside', animated: animated && format === 'webp' };
  return { ...sides, fit: 'contain', enlarge: true, ...(background && { background }) };
}

const types: Record<Format, string> = { webp: 'image/webp', png: 'image/png', avif: 'image/avif' };

/** The bytes of the logo from memory; the built-in logo while the object store is unavailable. */
export async function serveLogo(call: Call, place: Place, query: LogoQuery): Promise<Bytes> {
  const brand = await brandOf(call.deps).current();
  const version = versionOf(hashAt(brand, place.kind, place.scheme), brand);
  const format = query.format ?? formatFor(call.headers.accept);
  const etag = etagOf(version, { ...query, format });
  const keep = query.v === version ? YEAR : REVALIDATE;
  headers(call, query);
  const source = await sourceOf(brand, place, call.deps.pictures);
  if (!source.standIn && knowsEtag(call.headers['if-none-match'], etag)) {
    kept(call, etag, keep);
    call.reply.status(304);
    return { body: null };
  }
  const made = await bytesFor(source, renditionOf(brand, place, { ...query, format }), call.deps.pictures);
  if (made && !source.standIn) kept(call, etag, keep);
  else call.reply.header('Cache-Control', NEVER);
  const body = made ?? source.bytes;
  return { body, type: types[made ? format : 'webp'], length: body.length };
}

const etagOf = (version: string, { size = 0, format, square }: LogoQuery): string =>
  `"${[version, size, format, square ? 1 : 0].join('-')}"`;

function kept({ reply }: Call, etag: string, keep: string): void {
  reply.header('ETag', etag);
  reply.header('Cache-Control', keep);
}

function renditionOf(brand: Brand, { kind, scheme }: Place, query: LogoQuery & { format: Format }): Rendition {
  const animated = chosen(brand, kind, scheme)?.logo.animated ?? false;
  const { size, format, square } = query;
  return { size, format, square, background: square ? brand.texts.background : null, animated };
}

/** The requested rendition; undefined while it cannot be rendered. */
async function bytesFor(source: Source, rendition: Rendition, pictures: Pictures): Promise<Buffer | undefined> {
  if (rendition.size === undefined && rendition.format === 'webp' && !rendition.square) return source.bytes;
  return sized(source, rendition, pictures).catch(() => undefined);
}

function headers({ reply }: Call, { format }: LogoQuery): void {
  reply.header('Access-Control-Allow-Origin', '*');
  reply.header('Cross-Origin-Resource-Policy', 'cross-origin');
  reply.header('Content-Security-Policy', "default-src 'none'");
  reply.header('Content-Disposition', 'inline');
  if (!format) reply.header('Vary', 'Accept');
}

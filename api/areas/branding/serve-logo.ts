import type { Bytes, Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import type { PictureMake, Pictures } from '#platform/pictures.ts';
import type { Format, Kind, LogoQuery, Scheme } from './branding.schemas.ts';
import { chosen, hashAt, versionOf } from './branding.view.ts';
import { builtIn, paintBuiltIn } from './built-in.ts';
import { type Brand, brandOf } from './memory.ts';

const NEVER = 'no-store';
const YEAR = 'public, max-age=31536000, immutable';
const ASK = 'public, no-cache';

interface Place {
  kind: Kind;
  scheme: Scheme;
}

interface Source {
  bytes: Buffer;
  hash: string;
  /** The picture that belongs here is away. */
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

/** The best that the client says it takes; WebP where it says nothing or anything. */
export function formatFor(accept: string | undefined): Format {
  const takes = (type: string): boolean => (accept ?? '*/*').toLowerCase().includes(type);
  if (takes('image/webp') || takes('*/*') || takes('image/*')) return 'webp';
  return takes('image/avif') ? 'avif' : 'png';
}

const MOST_MADE = 200;
/** Sizes made so far, by picture and wish; few exist. */
const madeSizes = new Map<string, Promise<Buffer>>();

interface Wish {
  size: number | undefined;
  format: Format;
  square: boolean;
  /** Of a square. */
  background: string | null;
  animated: boolean;
}

async function sized(source: Source, wish: Wish, pictures: Pictures): Promise<Buffer> {
  const key = JSON.stringify([source.hash, wish]);
  const known = madeSizes.get(key);
  if (known) return known;
  const made = pictures.remake(source.bytes, makeOf(wish));
  madeSizes.set(key, made);
  made.catch(() => madeSizes.delete(key));
  const [oldest] = madeSizes.keys();
  if (madeSizes.size > MOST_MADE && oldest !== undefined) madeSizes.delete(oldest);
  return made;
}

function makeOf({ size = 1024, format, square, background, animated }: Wish): PictureMake {
  const sides = { format, width: size, height: size, lossless: format !== 'avif' };
  if (!square) return { ...sides, fit: 'inside', animated: animated && format === 'webp' };
  return { ...sides, fit: 'contain', enlarge: true, ...(background && { background }) };
}

const types: Record<Format, string> = { webp: 'image/webp', png: 'image/png', avif: 'image/avif' };

/** Bytes of the logo, whatever is away: the copy in memory, else the built-in one. */
export async function serveLogo(call: Call, place: Place, query: LogoQuery): Promise<Bytes> {
  const brand = await brandOf(call.deps).current();
  const version = versionOf(hashAt(brand, place.kind, place.scheme), brand);
  const format = query.format ?? formatFor(call.headers.accept);
  const etag = etagOf(version, { ...query, format });
  const keep = query.v === version ? YEAR : ASK;
  headers(call, query);
  const source = await sourceOf(brand, place, call.deps.pictures);
  if (!source.standIn && knowsEtag(call.headers['if-none-match'], etag)) {
    kept(call, etag, keep);
    call.reply.status(304);
    return { body: null };
  }
  const made = await bytesFor(source, wishOf(brand, place, { ...query, format }), call.deps.pictures);
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

function wishOf(brand: Brand, { kind, scheme }: Place, asked: LogoQuery & { format: Format }): Wish {
  const animated = chosen(brand, kind, scheme)?.logo.animated ?? false;
  const { size, format, square } = asked;
  return { size, format, square, background: square ? brand.texts.background : null, animated };
}

/** As asked; undefined while it cannot be made. */
async function bytesFor(source: Source, wish: Wish, pictures: Pictures): Promise<Buffer | undefined> {
  if (wish.size === undefined && wish.format === 'webp' && !wish.square) return source.bytes;
  return sized(source, wish, pictures).catch(() => undefined);
}

function headers({ reply }: Call, { format }: LogoQuery): void {
  reply.header('Access-Control-Allow-Origin', '*');
  reply.header('Cross-Origin-Resource-Policy', 'cross-origin');
  reply.header('Content-Security-Policy', "default-src 'none'");
  reply.header('Content-Disposition', 'inline');
  if (!format) reply.header('Vary', 'Accept');
}

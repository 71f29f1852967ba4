// Pictures of items, libraries, profiles and others: rows of `images` and their ImageRef.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { onlyShownCollections } from '#identity/collection-sight.ts';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Log } from '#platform/log.ts';
import type { Bucket, Objects } from '#platform/objects.ts';
import type { MadePicture, PicturePart, PictureRules } from '#platform/pictures.ts';
import { ApiError } from './errors.ts';

/** SQL of the ImageRef for the image id in `column`; null without one. */
export const imageRefSql = (column: string): string =>
  `(select json_build_object('id', picture.id, 'kind', picture.kind, 'width', picture.width, 'height', picture.height,
     'blurhash', picture.blurhash, 'version', picture.version::text) from images picture where picture.id = ${column})`;

/** Largest upload of artwork in bytes. */
export const ARTWORK_BYTES = 25 << 20;
export const artworkMedia = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/heif',
  'image/tiff',
  'image/bmp',
  'image/jxl',
] as const;
export const artworkRules: PictureRules = {
  accepts: ['jpeg', 'png', 'webp', 'avif', 'gif', 'heif', 'tiff', 'bmp', 'jxl'],
  minSide: 48,
  maxSide: 20_000,
  maxPixels: 1e8,
  maxFrames: 300,
};

/** Stores bytes by their SHA-256, once. Throws 503 while the object store is unavailable. */
export async function keepOriginal({ objects, log }: { objects: Objects; log: Log }, bytes: Buffer): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  try {
    await objects.put('foyer-artwork', hash, bytes);
    return hash;
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'a picture cannot be kept');
    throw new ApiError('SERVICE_STARTING', 'The object store is unavailable', { waitingFor: 'objects' });
  }
}

export type ImageSource = 'agent' | 'local' | 'embedded' | 'upload' | 'url' | 'frame' | 'mosaic' | 'face' | 'generated';

/** Where the bytes of an image are: posters of Discover can be fetched again, so they are in the bucket of made sizes. */
export const originalPlace = ({ owner_kind: kind, sha256 }: { owner_kind: string; sha256: string }): OriginalPlace =>
  kind === 'title'
    ? { bucket: 'foyer-artwork-cache', key: `titles/${sha256}` }
    : { bucket: 'foyer-artwork', key: sha256 };

export interface OriginalPlace {
  bucket: Bucket;
  key: string;
}

/** Facts about an accepted picture that its row keeps. */
export type ImageFacts = Pick<
  MadePicture,
  'width' | 'height' | 'blurhash' | 'dominant' | 'palette' | 'alpha' | 'frames'
>;

export interface NewImage {
  kind: string;
  owner: { kind: 'library' | 'profile' | 'item' | 'person' | 'collection' | 'title'; id: string };
  /** Absent is an upload. */
  source?: ImageSource;
  /** SHA-256 of the stored bytes: the original or a rendition. */
  sha256: string;
  mime: string;
  sizeBytes: number;
  picture: ImageFacts;
  byAccountId: string | null;
  sourceUrl?: string;
  language?: string;
  /** What it was made from, to compare at the next scan. */
  origin?: object;
  /** Shown instead of the whole picture. */
  crop?: PicturePart;
  focus?: { x: number; y: number };
  expiresAt?: Date;
}

/** Inserts the row and returns its id. */
export async function insertImage(db: Db, image: NewImage): Promise<string> {
  const { kind, owner, sha256, mime, sizeBytes, picture, byAccountId, origin, crop, focus } = image;
  const { width, height, blurhash, dominant, palette, alpha, frames } = picture;
  const shown = crop
    ? { width: Math.round(width * crop.width), height: Math.round(height * crop.height) }
    : { width, height };
  const id = newId();
  await db('images').insert({
    ...{ id, kind, owner_kind: owner.kind, owner_id: owner.id, source: image.source ?? 'upload', sha256, mime },
    ...{ size_bytes: sizeBytes, ...shown, blurhash, dominant, palette, alpha, animated: frames > 1 },
    ...{ added_by: byAccountId, source_url: image.sourceUrl ?? null, language: image.language ?? null },
    ...{ origin: origin ? JSON.stringify(origin) : null, focus: focus ? JSON.stringify(focus) : null },
    ...{ crop: crop ? JSON.stringify(crop) : null, expires_at: image.expiresAt ?? null },
    ...(crop && { full_width: width, full_height: height }),
  });
  return id;
}

/**
 * Deletes the images of an owner except those in `except`, except posters of libraries and except mosaics, which the server makes. Job
 * objects.sweep deletes the objects.
 */
export async function dropImages(
  db: Db,
  owner: NewImage['owner'],
  except: string | null | readonly (string | null)[],
): Promise<void> {
  const kept = [except].flat().filter((id) => id !== null);
  await db('images')
    .where({ owner_kind: owner.kind, owner_id: owner.id })
    .whereNot({ source: 'mosaic' })
    .whereNotIn('id', kept)
    .whereRaw('not exists (select from libraries where poster_image_id = images.id)')
    .delete();
}

/** Deletes the images of an owner kind whose bytes are gone, by their hashes. */
export async function dropLostImages(db: Db, kind: 'title', hashes: readonly string[]): Promise<void> {
  await db('images').where({ owner_kind: kind }).whereIn('sha256', hashes).delete();
}

const artworkOwners = ['library', 'item'] as const;

/** Whether the image belongs to a library or an item that `who` may see; avatars are not included. */
export async function seesArtwork(db: Db, who: Principal, id: string): Promise<boolean> {
  const image = await db('images').where({ id }).first('owner_kind', 'owner_id');
  const kind = artworkOwners.find((one) => one === image?.owner_kind);
  return image !== undefined && kind !== undefined && seesOwner(db, who, { kind, id: image.owner_id });
}

/** Whether `who` may see the owner of an image, and so every image of it. */
export async function seesOwner(db: Db, who: Principal, { kind, id }: { kind: string; id: string }): Promise<boolean> {
  const owners: Record<string, () => Knex.QueryBuilder> = {
    library: () => db.from('libraries').modify(onlyVisibleLibraries, who).where('libraries.id', id),
    item: () => db.from('items').modify(onlyVisibleItems, who).where('items.id', id),
    person: () => db.from('items').modify(onlyCredited, who, id),
    collection: () => db.from('collections as c').modify(onlyShownCollections, who).where('c.id', id),
    profile: () => db.from('profiles').modify(onlyKnownProfiles, who).where('profiles.id', id),
    title: () => db.from('discover_titles as t').modify(onlyShownTitles, who).where('t.id', id),
  };
  const owner = owners[kind]?.();
  if (!owner) return false;
  return (await owner.first(db.raw('1 as there'))) !== undefined;
}

/** Visible items that credit a person. */
function onlyCredited(query: Knex.QueryBuilder, who: Principal, personId: string): void {
  query.modify(onlyVisibleItems, who).whereExists((credit) => {
    credit.from('credits as c').whereRaw('c.item_id = items.id').where('c.person_id', personId);
  });
}

/** Titles outside of the libraries that the caller may discover: with an age limit, rated ones within it. */
function onlyShownTitles(query: Knex.QueryBuilder, { restrictions, sees }: Principal): void {
  if (restrictions['discover'] === 'deny') void query.whereRaw('false');
  if (sees.ageLimit !== undefined || sees.hideUnrated) void query.whereNotNull('t.age_years').where('t.adult', false);
  if (sees.ageLimit !== undefined) void query.where('t.age_years', '<=', sees.ageLimit);
}

/** Profiles of the own account, and with `user:manage` those of all. */
function onlyKnownProfiles(query: Knex.QueryBuilder, who: Principal): void {
  if (!may(who, 'user:manage')) query.where('profiles.account_id', who.accountId);
}

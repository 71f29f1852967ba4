// Pictures of items, libraries, profiles and others: rows of `images` and their ImageRef.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { MadePicture, PictureRules } from '#platform/pictures.ts';
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

export interface NewImage {
  kind: 'poster' | 'avatar';
  owner: { kind: 'library' | 'profile'; id: string };
  /** SHA-256 of the stored bytes: the original or a rendition. */
  sha256: string;
  mime: string;
  sizeBytes: number;
  picture: Pick<MadePicture, 'width' | 'height' | 'blurhash' | 'dominant' | 'frames'>;
  byAccountId: string;
}

/** Inserts the row and returns its id. */
export async function insertImage(db: Db, image: NewImage): Promise<string> {
  const { kind, owner, sha256, mime, sizeBytes, picture, byAccountId } = image;
  const { width, height, blurhash, dominant, frames } = picture;
  const id = newId();
  await db('images').insert({
    ...{ id, kind, owner_kind: owner.kind, owner_id: owner.id, source: 'upload', sha256, mime, size_bytes: sizeBytes },
    ...{ width, height, blurhash, dominant, animated: frames > 1, added_by: byAccountId },
  });
  return id;
}

/** Deletes the images of an owner except one and except posters of libraries. Job objects.sweep deletes the objects. */
export async function dropImages(db: Db, owner: NewImage['owner'], except: string | null): Promise<void> {
  await db('images')
    .where({ owner_kind: owner.kind, owner_id: owner.id })
    .modify((query) => {
      if (except) void query.whereNot('id', except);
    })
    .whereRaw('not exists (select from libraries where poster_image_id = images.id)')
    .delete();
}

/** Whether the image belongs to a library or an item that `who` may see; avatars are not included. */
export async function seesArtwork(db: Db, who: Principal, id: string): Promise<boolean> {
  const image = await db('images').where({ id }).first('owner_kind', 'owner_id');
  if (!image) return false;
  const owners: Record<string, Knex.QueryBuilder> = {
    library: db.from('libraries').modify(onlyVisibleLibraries, who),
    item: db.from('items').modify(onlyVisibleItems, who),
  };
  const owner = owners[image.owner_kind];
  if (!owner) return false;
  const table = image.owner_kind === 'library' ? 'libraries.id' : 'items.id';
  return (await owner.where(table, image.owner_id).first(table)) !== undefined;
}

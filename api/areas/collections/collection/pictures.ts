import { listed } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { artworkRules, dropImages, insertImage, keepOriginal } from '#kernel/images.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { Upload } from '#kernel/uploads.ts';
import type { MadePicture } from '#platform/pictures.ts';
import type { CollectionChange } from '../collections.schemas.ts';
import { collectionList } from '../items/listing.ts';
import type { CollectionRow } from './collections.store.ts';

const places = ['poster', 'backdrop'] as const;
type Place = (typeof places)[number];

/** Pictures of a request, opened before its transaction. */
export type Opened = Partial<Record<Place, { upload: Upload; picture: MadePicture }>>;

/** Throws 415 for another type, 400 for an invalid picture and for a picture together with the id of one. */
export async function openPictures(call: Call, change: CollectionChange): Promise<Opened> {
  const opened: Opened = {};
  for (const place of places) {
    const upload = change[place];
    if (!upload) continue;
    if (change[`${place}ImageId`] !== undefined)
      throw invalid(['body', `${place}ImageId`], 'both', 'a picture or the id of an image, not both');
    const picture = await pictureOf(call.deps.pictures, upload, { rules: artworkRules, path: ['body', place] });
    opened[place] = { upload, picture };
  }
  return opened;
}

/** Columns of the pictures in a change. Throws 400 for an image that is neither the collection's nor of one of its items. */
export async function pictureColumns(
  call: Call,
  row: CollectionRow,
  { change, opened }: { change: CollectionChange; opened: Opened },
): Promise<Partial<Pick<CollectionRow, 'poster_image_id' | 'backdrop_image_id'>>> {
  const columns: Record<string, string | null> = {};
  for (const place of places) {
    const id = change[`${place}ImageId`];
    const given = opened[place];
    if (given) columns[`${place}_image_id`] = await keep(call, row.id, { ...given, place });
    else if (id !== undefined) {
      if (id !== null && id !== row[`${place}_image_id`]) await requireOwn(call, row, { id, place });
      columns[`${place}_image_id`] = id;
    }
  }
  return columns;
}

async function keep(
  call: Call,
  id: string,
  { upload, picture, place }: NonNullable<Opened[Place]> & { place: Place },
): Promise<string> {
  const sha256 = await keepOriginal({ objects: call.deps.objects, log: call.log }, upload.bytes);
  return insertImage(call.db, {
    ...{ kind: place, owner: { kind: 'collection', id }, sha256, picture },
    ...{ mime: picture.type, sizeBytes: upload.bytes.length, byAccountId: call.who.accountId },
  });
}

async function requireOwn(call: Call, row: CollectionRow, { id, place }: { id: string; place: Place }): Promise<void> {
  const image = await call
    .db('images')
    .where({ id, discarded: false, expires_at: null })
    .first('owner_kind', 'owner_id');
  if (image?.owner_kind === 'collection' && image.owner_id === row.id) return;
  if (image?.owner_kind === 'item' && (await holds(call, row, image.owner_id))) return;
  throw invalid(['body', `${place}ImageId`], 'unknown_image', 'no image of this collection or of its items');
}

/** Whether the caller sees the item in the collection. */
export async function holds(call: Call, row: CollectionRow, itemId: string): Promise<boolean> {
  const list = await collectionList(call, row);
  if (list.listing.shelves?.length === 0) return false;
  return (await listed(call, list.listing, list.within).where('i.id', itemId).first('i.id')) !== undefined;
}

/** Deletes uploaded pictures that the collection no longer shows. */
export async function dropFormerPictures(call: Call, row: CollectionRow): Promise<void> {
  await dropImages(call.db, { kind: 'collection', id: row.id }, [row.poster_image_id, row.backdrop_image_id]);
}

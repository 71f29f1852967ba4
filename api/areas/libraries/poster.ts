import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { artworkRules, dropImages, insertImage, keepOriginal, seesArtwork } from '#kernel/images.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { Upload } from '#kernel/uploads.ts';
import type { Pictures } from '#platform/pictures.ts';
import type { LibraryChange } from './libraries.schemas.ts';
import type { LibraryRow } from './libraries.store.ts';

/** An uploaded poster, opened and measured; kept once the change is taken. */
export interface NewPoster {
  upload: Upload;
  picture: Awaited<ReturnType<typeof pictureOf>>;
}

/** Outside any transaction, for it takes a while. Throws 400 and 415 for what is no picture of Artwork's. */
export async function openPoster(pictures: Pictures, upload: Upload): Promise<NewPoster> {
  return { upload, picture: await pictureOf(pictures, upload, { rules: artworkRules, path: ['body', 'poster'] }) };
}

/** Keeps the picture as one of the library; the id that `posterImageId` then is. */
export async function keepPoster(call: Call, row: LibraryRow, { upload, picture }: NewPoster): Promise<string> {
  const sha256 = await keepOriginal({ objects: call.deps.objects, log: call.log }, upload.bytes);
  return insertImage(call.db, {
    ...{ kind: 'poster', owner: { kind: 'library', id: row.id }, sha256, picture },
    ...{ mime: picture.type, sizeBytes: upload.bytes.length, byAccountId: call.who.accountId },
  });
}

/** 400 for both at once, and for an image that the caller does not see as artwork. */
export async function refuseUnknownPoster(
  { db, who }: Call,
  row: LibraryRow,
  { posterImageId, poster }: LibraryChange,
): Promise<void> {
  const path = ['body', 'posterImageId'];
  if (poster && posterImageId !== undefined) throw invalid(path, 'both', 'either a picture or the id of one');
  if (!posterImageId || posterImageId === row.poster_image_id || (await seesArtwork(db, who, posterImageId))) return;
  throw invalid(path, 'unknown_image', 'there is no such image');
}

/** Uploaded posters that the library no longer shows go. */
export async function dropFormerPosters({ db }: Call, row: LibraryRow, shown: string | null): Promise<void> {
  if (row.poster_image_id !== shown) await dropImages(db, { kind: 'library', id: row.id }, shown);
}

// Where uploads go: a library of photos, its first writable folder, and an album.
import { may } from '#identity/principal.ts';
import { visibleItemIds, visibleLibraryIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { baseOf } from '#platform/own-types.ts';
import { rowsOf } from '#platform/rows.ts';

export interface UploadFolder {
  id: string;
  storageId: string;
  /** Of the folder in its storage. */
  path: string;
}

/** The first folder of a library into which an account may write; drives of other accounts are passed over. */
export async function uploadFolderOf(db: Db, libraryId: string, accountId: string): Promise<UploadFolder | undefined> {
  const [found] = await rowsOf<{ id: string; storage_id: string; path: string }>(
    db,
    `select f.id, f.storage_id, f.path from library_folders f join storages s on s.id = f.storage_id
     where f.library_id = ? and s.enabled and not s.read_only and (s.kind <> 'mount' or s.root_name is not null) and (s.owner_id is null or s.owner_id = ?)
     order by (s.owner_id is not null) desc, f.added_at, f.id limit 1`,
    [libraryId, accountId],
  );
  return found && { id: found.id, storageId: found.storage_id, path: found.path };
}

/**
 * Throws 404 for a library or album that the caller does not see, 403 where they may not upload, 409 for a library without a
 * writable folder.
 */
export async function requireTarget(call: Call, libraryId: string, albumId: string | undefined): Promise<void> {
  const { db, who } = call;
  const [visible] = await visibleLibraryIds(db, who, [libraryId]);
  const row = visible && (await db('libraries').where({ id: libraryId }).whereNull('deleted_at').first());
  if (!row) throw notFound();
  if (baseOf(row) !== 'photos' || !may(who, 'photo:upload'))
    throw new ApiError('FORBIDDEN', 'Photos are uploaded into libraries of photos', {});
  if (albumId) await requireAlbum(call, libraryId, albumId);
  if (await uploadFolderOf(db, libraryId, who.accountId)) return;
  throw row.managed_by
    ? conflict('managed-by-resource', 'No folder of this library can be written, and a resource declares its folders')
    : conflict('no-upload-folder', 'No folder of this library can be written');
}

async function requireAlbum({ db, who }: Call, libraryId: string, albumId: string): Promise<void> {
  const [visible] = await visibleItemIds(db, who, [albumId]);
  const album = visible && (await db('items').where({ id: albumId }).first('library_id', 'type'));
  if (!album || album.library_id !== libraryId || album.type !== 'photo-album') throw notFound();
}

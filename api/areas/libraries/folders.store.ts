import type { FolderOnMount } from '#areas/storage/public.ts';
import { findStorages } from '#areas/storage/public.ts';
import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { containersSql } from '#platform/item-types.ts';
import type { Row } from '#platform/typed-query.ts';
import type { NewFolder } from './libraries.schemas.ts';
import { recountLibrary } from './trash/trash.store.ts';

export type FolderRow = Pick<
  Row<'library_folders'>,
  'id' | 'library_id' | 'storage_id' | 'path' | 'added_by' | 'added_at'
>;

/** `/a//b/` and `a/b` are the same folder. */
export function tidyPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

function contains(outer: string, inner: string): boolean {
  return outer === '' || outer === inner || inner.startsWith(`${outer}/`);
}

function overlap(a: NewFolder, b: { storage_id: string; path: string }): boolean {
  return a.storageId === b.storage_id && (contains(a.path, b.path) || contains(b.path, a.path));
}

export async function listFolders(db: Db, libraryIds: readonly string[]): Promise<FolderRow[]> {
  return db('library_folders')
    .whereIn('library_id', libraryIds)
    .orderBy(['added_at', 'id'])
    .select('id', 'library_id', 'storage_id', 'path', 'added_by', 'added_at');
}

export async function countFolders(db: Db, of: { library_id: string } | { added_by: string }): Promise<number> {
  const [counted] = await db('library_folders').where(of).count<{ count: number }[]>('* as count');
  return counted?.count ?? 0;
}

interface Owner {
  libraryId: string;
  type: string;
}

/** Throws 409 `folder-overlap`, and `read-only` for recordings on a read-only storage. */
export async function refuseUnfit(db: Db, owner: Owner, folders: readonly NewFolder[]): Promise<void> {
  await refuseOverlap(db, owner, folders);
  if (owner.type !== 'livetv' || folders.length === 0) return;
  const storages = await findStorages(
    db,
    folders.map((folder) => folder.storageId),
  );
  const closed = folders.find(({ storageId }) => storages.get(storageId)?.readOnly);
  if (closed) throw conflict('read-only', 'Recordings need a writable storage', { folders: [closed.path] });
}

/** Throws 409 when a folder contains another one of the library, or a library of the same type has it. */
async function refuseOverlap(db: Db, owner: Owner, folders: readonly NewFolder[]): Promise<void> {
  const taken = await db('library_folders as f')
    .join('libraries as l', 'l.id', 'f.library_id')
    .whereNull('l.deleted_at')
    .whereRaw('(l.type = ? or l.id = ?)', [owner.type, owner.libraryId])
    .whereIn(
      'f.storage_id',
      folders.map((folder) => folder.storageId),
    )
    .select<{ storage_id: string; path: string; id: string; name: string }[]>(
      'f.storage_id',
      'f.path',
      'l.id',
      'l.name',
    );
  for (const [index, folder] of folders.entries()) {
    const inList = folders
      .slice(0, index)
      .find((other) => overlap(folder, { storage_id: other.storageId, path: other.path }));
    const inTable = taken.find((row) => {
      const same = row.storage_id === folder.storageId && row.path === folder.path;
      return row.id === owner.libraryId ? overlap(folder, row) : same;
    });
    if (!inList && !inTable) continue;
    throw conflict('folder-overlap', 'A folder overlaps another', {
      folders: [folder.path],
      library: inTable ? { id: inTable.id, name: inTable.name } : null,
    });
  }
}

export async function insertFolders(
  db: Db,
  libraryId: string,
  add: { folders: readonly NewFolder[]; by: string | null },
): Promise<FolderRow[]> {
  if (add.folders.length === 0) return [];
  const rows = add.folders.map((folder) => ({
    id: newId(),
    library_id: libraryId,
    storage_id: folder.storageId,
    path: folder.path,
    added_by: add.by,
  }));
  return db('library_folders').insert(rows).returning('*');
}

export async function countFilesIn(db: Db, folderIds: readonly string[]): Promise<number> {
  const [row] = await db('media_files')
    .whereIn('folder_id', folderIds)
    .select<{ n: number }[]>(db.raw('count(distinct item_id) as n'));
  return row?.n ?? 0;
}

/**
 * Removes the folders. Items without a file elsewhere go to the trash as folder-removed. The library's row must be
 * locked.
 */
export async function removeFolders(db: Db, libraryId: string, folderIds: readonly string[]): Promise<void> {
  if (folderIds.length === 0) return;
  const ids = [...folderIds];
  await db('libraries').where({ id: libraryId }).increment('change_seq', 1);
  const trash = `trashed_at = now(), trash_reason = 'folder-removed', updated_at = now(), revision = i.revision + 1, change_seq = l.change_seq`;
  // Trash the items first: deleting a folder deletes its files, which decide which items lose their last file.
  await db.raw(
    `update items i set ${trash} from libraries l
     where l.id = i.library_id and i.library_id = ? and i.trashed_at is null and i.id in (
       select item_id from media_files group by item_id having bool_and(folder_id = any(?::uuid[])))`,
    [libraryId, ids],
  );
  await db.raw(
    `update items i set ${trash} from libraries l
     where l.id = i.library_id and i.library_id = ? and i.trashed_at is null and i.type = any(${containersSql})
       and not exists (select 1 from items c where (c.parent_id = i.id or c.grandparent_id = i.id) and c.trashed_at is null
                       and c.type <> all(${containersSql}))`,
    [libraryId],
  );
  await db('library_folders').where({ library_id: libraryId }).whereIn('id', ids).delete();
  await recountLibrary(db, libraryId);
}

/**
 * Records that a folder became unavailable or available, and increases the change number of its library. False when
 * this was already recorded.
 */
export async function changeFolder(db: Db, { id, libraryId }: FolderOnMount, unavailable: boolean): Promise<boolean> {
  const changed = await db('library_folders').where({ id, away: !unavailable }).update({ away: unavailable });
  if (changed > 0) await db('libraries').where({ id: libraryId }).increment('change_seq', 1);
  return changed > 0;
}

/** Removes the library folders on personal storages of an account; items without another file go to the trash. */
export async function removeFoldersOf(db: Db, accountId: string): Promise<void> {
  for (const id of await db('storages').where({ owner_id: accountId }).pluck('id')) await removeFoldersOn(db, id);
}

/** Removes the library folders on a storage; items without another file go to the trash. */
export async function removeFoldersOn(db: Db, storageId: string): Promise<void> {
  const rows = await db('library_folders').where({ storage_id: storageId }).select('id', 'library_id');
  for (const [libraryId, folders] of Map.groupBy(rows, (row) => row.library_id))
    await removeFolders(
      db,
      libraryId,
      folders.map(({ id }) => id),
    );
}

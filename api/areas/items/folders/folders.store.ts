import type { Knex } from 'knex';
import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { type FolderPlace, folderPlace } from './folders.ts';

export interface LibraryFolder {
  id: string;
  path: string;
  name: string;
}

const nameOf = (path: string, storage: string): string => path.split('/').filter(Boolean).at(-1) ?? storage;

/** Folders of a library, named by their last segment. */
export async function listLibraryFolders(db: Db, libraryId: string): Promise<LibraryFolder[]> {
  const rows: { id: string; path: string; storage: string }[] = await db('library_folders as lf')
    .join('storages as st', 'st.id', 'lf.storage_id')
    .where('lf.library_id', libraryId)
    .orderBy(['lf.path', 'lf.id'])
    .select('lf.id', 'lf.path', 'st.name as storage');
  return rows.map((row) => ({ id: row.id, path: row.path, name: nameOf(row.path, row.storage) }));
}

/** Place and path prefix of a node. Throws 404 for a node of another library. */
export async function getFolder(
  db: Db,
  libraryId: string,
  nodeId: string,
): Promise<{ place: FolderPlace; folder: LibraryFolder; prefix: string }> {
  const place = folderPlace(nodeId);
  const folder = (await listLibraryFolders(db, libraryId)).find((one) => one.id === place.folderId);
  if (!folder) throw notFound();
  return { place, folder, prefix: prefixOf(folder.path, place.path) };
}

/** The prefix of paths below a folder: no slash at the start, one at the end, or an empty text. */
export function prefixOf(...parts: string[]): string {
  const whole = parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/');
  return whole === '' ? '' : `${whole}/`;
}

/** Narrows `items as i` to items with a file directly in the folder, or with `deep` anywhere below it. */
export function inFolder(
  query: Knex.QueryBuilder,
  { folderId, prefix, deep }: { folderId: string; prefix: string; deep: boolean },
): void {
  const direct = deep ? '' : `and position('/' in substr(f.path, length(?) + 1)) = 0`;
  query.whereRaw(
    `exists (select 1 from media_files f where f.item_id = i.id and not f.ignored and f.folder_id = ?
      and starts_with(f.path, ?) ${direct})`,
    deep ? [folderId, prefix] : [folderId, prefix, prefix],
  );
}

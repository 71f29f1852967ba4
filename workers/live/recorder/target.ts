// The folder of a recording.
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { findStorages, placeInStorage, type Storage } from '#areas/storage/public.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { WorkerDeps } from '#workers/work.ts';

export interface Folder {
  id: string;
  libraryId: string;
  /** Type of the library. */
  type: string;
  storageId: string;
  /** In its storage. */
  path: string;
}

/** The folder cannot be written now. */
export class FolderUnavailable extends Error {}

const USABLE = ['available', 'degraded'];

/** The named folder, else the first of the library; undefined when the library has none. */
export async function folderOf(
  db: Db,
  { library_id: libraryId, folder_id: folderId }: Pick<RecordingRow, 'library_id' | 'folder_id'>,
): Promise<Folder | undefined> {
  const [row] = await rowsOf<Folder>(
    db,
    `select f.id, f.library_id as "libraryId", l.type, f.storage_id as "storageId", f.path
       from library_folders f join libraries l on l.id = f.library_id
      where f.library_id = ? and l.deleted_at is null order by (f.id = ?) desc nulls last, f.added_at, f.id limit 1`,
    [libraryId, folderId],
  );
  return row;
}

type Deps = Pick<WorkerDeps, 'db' | 'config'>;

/** The storage of a folder. Throws `FolderUnavailable` while it cannot be written. */
export async function writableStorage({ db, config }: Deps, { storageId }: Folder): Promise<Storage> {
  const storage = (await findStorages(db, [storageId])).get(storageId);
  if (!storage || !USABLE.includes(storage.state) || storage.readOnly) throw new FolderUnavailable();
  if (config.mediaRoots.find(({ name }) => name === storage.rootName)?.readOnly) throw new FolderUnavailable();
  return storage;
}

/** The folder of a mount in this process. Throws `FolderUnavailable`. */
export async function placeOf(deps: Deps, folder: Folder): Promise<string> {
  const place = await placeInStorage(deps.config, await writableStorage(deps, folder), folder.path);
  if (place.kind !== 'there') throw new FolderUnavailable();
  return place.absolute;
}

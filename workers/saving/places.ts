// Where the files of an item are written: next to its media, or in the folder that only it uses.
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findStorages, openMedia, placeInStorage, type Storage } from '#areas/storage/public.ts';
import { isBelow } from '#platform/is-below.ts';
import { rowsOf } from '#platform/rows.ts';
import { splitName } from '../scan/names/kinds.ts';
import { discOf } from '../scan/names/music.ts';
import { seasonOf } from '../scan/names/seasons.ts';
import type { Work } from '../work.ts';

/** The item whose files are written. */
export interface SavingItem {
  id: string;
  libraryId: string;
  type: string;
  index: number | null;
  parentId: string | null;
  number?: string | undefined;
}

/** A folder in which files of an item may be written. */
export interface SavePlace {
  storageId: string;
  /** Inside the storage. */
  directory: string;
  absolute: string;
  /** Name of the media file without its extension, and whole; absent in the folder of a container. */
  file?: { stem: string; name: string };
  /** The folder is of this item alone. */
  alone: boolean;
}

/** `none`: the item has no place of its own. */
export type Placement = SavePlace | 'gone' | 'read-only' | 'none';

interface FileRow {
  folder_id: string;
  folder: string;
  storage_id: string;
  directory: string;
  path: string;
  size_bytes: number;
  modified_ms: number;
}

const CONTAINERS = ['show', 'season', 'artist', 'album'];
/** Types to which a whole folder may belong. */
const FOLDERED = [...CONTAINERS, 'movie', 'book', 'audiobook', 'comic'];

/** The place of an item. */
export async function placementOf(work: Work, item: SavingItem): Promise<Placement> {
  const files = await filesOf(work, item);
  const [first] = files;
  const found = first && folderOf(item, files);
  if (!first || found === undefined) return 'none';
  const alone = await isAlone(work, item, { file: first, directory: found });
  if (isContainer(item) && !alone) return 'none';
  const storage = (await findStorages(work.db, [first.storage_id])).get(first.storage_id);
  if (!storage) return 'gone';
  const absolute = await writableFolder(work, { storage, file: first, directory: found });
  if (typeof absolute !== 'object') return absolute;
  const name = lastOf(first.path);
  const file = isContainer(item) ? {} : { file: { name, stem: splitName(name).stem } };
  return { storageId: first.storage_id, directory: found, absolute: absolute.path, alone, ...file };
}

const isContainer = ({ type }: SavingItem): boolean => CONTAINERS.includes(type);

function folderOf(item: SavingItem, files: readonly FileRow[]): string | undefined {
  const found = isContainer(item) ? ownFolder(item, files) : files[0]?.directory;
  return found !== undefined && isWithin(files[0]?.folder ?? '', found) ? found : undefined;
}

/** Whether the whole folder belongs to the item. The library's own folder belongs to none. */
async function isAlone(
  work: Work,
  item: SavingItem,
  { file, directory }: { file: FileRow; directory: string },
): Promise<boolean> {
  if (!FOLDERED.includes(item.type) || directory === file.folder) return false;
  return !(await hasOthers(work, item, { folderId: file.folder_id, directory }));
}

/** Files of a container are those of everything in it. */
const MOST_FILES = 2000;

async function filesOf({ db }: Work, { id, type }: SavingItem): Promise<FileRow[]> {
  const owner = CONTAINERS.includes(type) ? '(i.parent_id = ? or i.grandparent_id = ?)' : '(i.id = ? and i.id = ?)';
  return rowsOf<FileRow>(
    db,
    `select f.folder_id, l.path as folder, f.storage_id, f.directory, f.path, f.size_bytes, f.modified_ms
     from items i join media_files f on f.item_id = i.id join library_folders l on l.id = f.folder_id
     where ${owner} and i.extra_of is null and i.trashed_at is null and f.missing_since is null and not f.ignored
     order by f.edition_rank, f.part nulls first, f.path, f.id limit ${MOST_FILES}`,
    [id, id],
  );
}

const above = (directory: string): string => {
  const parent = dirname(directory);
  return parent === '.' ? '' : parent;
};
const lastOf = (directory: string): string => directory.slice(directory.lastIndexOf('/') + 1);

/** The one folder that holds a container; undefined when its content is spread or lies among that of others. */
function ownFolder({ type, index }: SavingItem, files: readonly FileRow[]): string | undefined {
  const found = new Set(
    files.map(({ directory, folder }) => (directory === folder ? undefined : folderIn(type, directory))),
  );
  const [only] = found;
  if (found.size !== 1 || new Set(files.map(({ folder_id: id }) => id)).size !== 1) return undefined;
  return type === 'season' && only !== undefined && seasonOf(lastOf(only)) !== index ? undefined : only;
}

function folderIn(type: string, directory: string): string {
  if (type === 'season') return directory;
  if (type === 'show') return seasonOf(lastOf(directory)) === undefined ? directory : above(directory);
  const album = discOf(lastOf(directory)) === undefined ? directory : above(directory);
  return type === 'album' ? album : above(album);
}

const isWithin = (folder: string, directory: string): boolean =>
  folder === '' || directory === folder || directory.startsWith(`${folder}/`);

/** Whether media of other items lie in the folder; below it too for a container. */
async function hasOthers(
  { db }: Work,
  { id, type }: SavingItem,
  { folderId, directory }: { folderId: string; directory: string },
): Promise<boolean> {
  const isContainer = CONTAINERS.includes(type);
  const rows = await rowsOf(
    db,
    `select 1 from media_files f join items i on i.id = f.item_id
     where f.folder_id = ? and (f.directory = ? or (? and starts_with(f.directory, ? || '/')))
       and f.missing_since is null and not f.ignored and i.extra_of is null
       and not (i.id = ? or coalesce(i.parent_id = ?, false) or coalesce(i.grandparent_id = ?, false)) limit 1`,
    [folderId, directory, isContainer, directory, id, id, id],
  );
  return rows.length > 0;
}

const USABLE = ['available', 'degraded'];

interface Folder {
  storage: Storage;
  file: FileRow;
  directory: string;
}

/** The folder in this process, if its storage is writable and its media are there. */
async function writableFolder(
  work: Work,
  { storage, file, directory }: Folder,
): Promise<{ path: string } | 'gone' | 'read-only' | 'none'> {
  const root = work.config.mediaRoots.find(({ name }) => name === storage.rootName);
  if (storage.readOnly || root?.readOnly) return 'read-only';
  if (!root || !USABLE.includes(storage.state)) return 'gone';
  const media = await openMedia(work, {
    ...{ storageId: file.storage_id, folderId: file.folder_id, path: file.path },
    ...{ sizeBytes: file.size_bytes, modifiedMs: file.modified_ms },
  });
  if (media.kind !== 'there') return media.kind === 'unavailable' ? 'gone' : 'none';
  const place = await placeInStorage(work.config, storage, directory);
  if (place.kind !== 'there') return place.kind === 'unavailable' ? 'gone' : 'none';
  return isInLibrary(place.absolute, join(root.path, storage.path, file.folder));
}

/** A link must not lead out of the library's folder. */
async function isInLibrary(path: string, folder: string): Promise<{ path: string } | 'none'> {
  return isBelow(await realpath(folder), path) ? { path } : 'none';
}

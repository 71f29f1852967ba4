// The former file of an item whose media were renamed.
import { type SavedFile, savedFilesOf } from '#areas/libraries/public.ts';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';
import type { SavingItem } from './places.ts';
import { SaveFolder } from './writing.ts';

interface Of {
  work: Work;
  library: { id: string; type: string };
}

interface Present {
  item: SavingItem;
  folder: SaveFolder;
  /** Of the file that was written now. */
  name: string;
}

/**
 * Removes the files that earlier saves wrote for an item under other names. A file that a person changed stays, as does all
 * that lies outside of the library's folders or on a storage that cannot be written.
 */
export async function removeFormers({ work, library }: Of, { item, folder, name }: Present): Promise<void> {
  const { storageId, directory } = folder.place;
  for (const row of await savedFilesOf(work.db, item.id)) {
    const isHere = row.storage_id === storageId && row.directory === directory;
    if (row.name !== name) await folder.removeFormer(row); // a renamed folder took it along
    if (isHere) continue;
    const former = await formerFolder({ work, library }, row);
    await former?.removeFormer(row);
  }
}

async function formerFolder({ work, library }: Of, row: SavedFile): Promise<SaveFolder | undefined> {
  const { storage_id: storageId, directory } = row;
  const storage = (await findStorages(work.db, [storageId])).get(storageId);
  const root = work.config.mediaRoots.find((one) => one.name === storage?.rootName);
  if (!storage || storage.readOnly || !root || root.readOnly || !(await isOfLibrary(work, library.id, row)))
    return undefined;
  const place = await placeInStorage(work.config, storage, directory);
  if (place.kind !== 'there') return undefined;
  return SaveFolder.open(work.db, library, { storageId, directory, absolute: place.absolute, alone: false });
}

async function isOfLibrary({ db }: Work, libraryId: string, { storage_id, directory }: SavedFile): Promise<boolean> {
  const rows = await rowsOf(
    db,
    `select 1 from library_folders where library_id = ? and storage_id = ? and (path = '' or path = ? or starts_with(?, path || '/'))`,
    [libraryId, storage_id, directory, directory],
  );
  return rows.length > 0;
}

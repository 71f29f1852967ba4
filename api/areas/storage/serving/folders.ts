import type { Db } from '#platform/db.ts';
import { joined, StorageFault, type StorageReader } from '../readers/reader.ts';
import { readerOfStorage } from '../registry.ts';
import { findStorageRow } from '../storages.store.ts';
import type { MediaConfig } from './opening.ts';
import { isFolder, placeInStorage, type Storage } from './roots.ts';

interface Deps {
  db: Db;
  config: MediaConfig;
}

/** The reader of a storage of any kind; undefined for one that does not exist. Throws `StorageFault`. */
export async function readerById({ db, config }: Deps, id: string): Promise<StorageReader | undefined> {
  const row = await findStorageRow(db, id);
  return row && readerOfStorage(config, row);
}

/** Whether a storage of any kind has a folder at the path. */
export async function folderOnStorage(
  deps: Deps,
  storage: Storage,
  path: string,
): Promise<'there' | 'absent' | 'unavailable'> {
  if (storage.kind === 'mount') return folderOnMount(deps, storage, path);
  try {
    const reader = await readerById(deps, storage.id);
    const found = await reader?.stat(joined(path));
    return found?.kind === 'directory' ? 'there' : 'absent';
  } catch (error) {
    if (error instanceof StorageFault) return 'unavailable';
    throw error;
  }
}

async function folderOnMount(
  { config }: Deps,
  storage: Storage,
  path: string,
): Promise<'there' | 'absent' | 'unavailable'> {
  const place = await placeInStorage(config, storage, path);
  if (place.kind === 'unavailable') return 'unavailable';
  return place.kind === 'there' && (await isFolder(place.absolute)) ? 'there' : 'absent';
}

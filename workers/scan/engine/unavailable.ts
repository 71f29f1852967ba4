import { findStorages, observeStorage } from '#areas/storage/public.ts';
import { isRemote } from '../remote-roots.ts';
import type { ScannedFolder } from '../store/context.ts';
import { isFolderAt } from './folder-at.ts';
import type { FolderReason, Scan } from './scan.ts';

/** Why the folder cannot be scanned now. */
export async function whyUnavailable(scan: Scan, folder: ScannedFolder): Promise<FolderReason | undefined> {
  const storage = (await findStorages(scan.work.db, [folder.storageId])).get(folder.storageId);
  if (!storage || storage.state === 'disabled') return 'storage-disabled';
  if (storage.state === 'suspect') return 'storage-suspect';
  if (storage.state === 'unavailable' || folder.root === '') return 'storage-unavailable';
  return (await isFolderAt(folder, folder.path)) ? undefined : 'storage-unavailable';
}

/**
 * Why directories that are gone from a remote storage prove nothing: no device or inode shows that a bucket was emptied or made again
 * during the listing.
 */
export async function whyDoubted(
  { work }: Scan,
  { root, storageId }: ScannedFolder,
): Promise<FolderReason | undefined> {
  if (!isRemote(root)) return undefined;
  const row = await work.db('storages').where({ id: storageId }).first();
  if (!row) return 'storage-disabled';
  const { ok, state } = await observeStorage(work, row, true);
  if (ok) return undefined;
  return state === 'suspect' ? 'storage-suspect' : 'storage-unavailable';
}

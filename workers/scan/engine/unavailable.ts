import { findStorages } from '#areas/storage/public.ts';
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

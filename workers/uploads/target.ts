// The library folder that an upload is written to: on a mount, or on a remote storage.
import { findStorages } from '#areas/storage/public.ts';
import type { UploadFolder, UploadRow } from '#areas/uploads/public.ts';
import type { Work } from '../work.ts';
import { StorageGone, type Wanted } from './naming.ts';
import { dropDrafts, isPlaced, placeUpload, topOf } from './place.ts';
import { dropDraft, isPlacedRemotely, placeRemotely, remoteTopOf } from './remote.ts';

export interface Target {
  /** Whether the upload's file already lies where its row says. Throws `Changed` when it was there and is lost. */
  holds: (row: UploadRow) => Promise<boolean>;
  /** Deletes the unfinished file that an earlier try left when its worker died. */
  tidy: (row: UploadRow) => Promise<void>;
  /** Puts the file in its folder. Throws `StorageGone`, `Changed`, `Cancelled`, `Unfit`, and the error of a full disk. */
  place: (row: UploadRow, wanted: Wanted) => Promise<void>;
}

const USABLE = ['available', 'degraded'];

/** Throws `StorageGone` while the folder cannot be written. */
export async function targetOf(work: Work, folder: UploadFolder): Promise<Target> {
  const storage = (await findStorages(work.db, [folder.storageId])).get(folder.storageId);
  if (!storage || !USABLE.includes(storage.state) || storage.readOnly) throw new StorageGone();
  if (storage.kind !== 'mount') {
    const top = await remoteTopOf(work, folder);
    return {
      holds: (row) => isPlacedRemotely(top, row),
      tidy: (row) => dropDraft(work, row, top),
      place: (row, wanted) => placeRemotely(work, row, { top, wanted }),
    };
  }
  const top = await topOf(work, { folder, storage });
  return {
    holds: (row) => isPlaced(top, row),
    tidy: (row) => dropDrafts(top, row),
    place: (row, wanted) => placeUpload(work, row, { top, wanted }),
  };
}

// Unfinished files of uploads that ended without a file: cancelled while it was written, or refused after a worker died.
import { KEPT_DAYS, noteTidied, type UploadFolder, type UploadRow, uploadFolderOf } from '#areas/uploads/public.ts';
import type { Db } from '#platform/db.ts';
import { Postponed, type Work } from '../work.ts';
import { StorageGone } from './naming.ts';
import { targetOf } from './target.ts';

const MINUTE_MS = 60_000;
const KEPT_MS = KEPT_DAYS * 1440 * MINUTE_MS;

/** Deletes them once the storage answers. */
export async function tidyEnded(work: Work, row: UploadRow): Promise<void> {
  const wasWritten = row.sha256 !== null && ['cancelled', 'failed'].includes(row.state);
  const folder = wasWritten ? await folderOf(work.db, row) : undefined;
  if (!folder) return;
  try {
    await (await targetOf(work, folder)).tidy(row);
    await noteTidied(work.db, row.id);
  } catch (error) {
    if (!(error instanceof StorageGone)) throw error;
    if (Date.now() - (row.ended_at?.getTime() ?? 0) > KEPT_MS) return;
    throw new Postponed(new Date(Date.now() + MINUTE_MS), 'storage');
  }
}

/** The folder that the file was written to; before it had a place, the one that it would get. */
async function folderOf(db: Db, row: UploadRow): Promise<UploadFolder | undefined> {
  if (row.folder_id === null) return row.library_id ? uploadFolderOf(db, row.library_id, row.account_id) : undefined;
  const folder = await db('library_folders').where({ id: row.folder_id }).first('id', 'storage_id', 'path');
  return folder && { id: folder.id, storageId: folder.storage_id, path: folder.path };
}

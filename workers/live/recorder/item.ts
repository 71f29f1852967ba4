// The item of a recording, from its start on. Until its file is there it plays from the parts in the object store.
import { lockRecording, type RecordingRow, updateRecordingRow } from '#areas/live-tv/public.ts';
import type { Db } from '#platform/db.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { dropExpected, type ExpectedFile, makeExpected } from '../../scan/expected.ts';
import { partsOfPath, tagsOf } from '../finish/names.ts';
import { type Folder, folderOf } from './target.ts';

/** A running recording gets its item. A film that its library has already gets the file as a version when it is there. */
export async function giveItem(deps: WorkerDeps, { id }: Pick<RecordingRow, 'id'>): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const row = await lockRecording(tx, id);
    if (row?.state !== 'recording' || row.item_id !== null) return;
    const folder = await folderOf(tx, row);
    if (!folder) return;
    const names = partsOfPath(row, folder.type, deps.settings.get('server.timeZone'));
    const itemId = await makeExpected(tx, deps, expectedOf(row, folder, names));
    if (itemId !== undefined) await updateRecordingRow(tx, id, { item_id: itemId });
  });
}

/** What a scan will find at these names below the folder. */
export function expectedOf(row: RecordingRow, folder: Folder, names: readonly string[]): ExpectedFile {
  const { id, storageId, path, libraryId } = folder;
  const tags = Object.entries(tagsOf(row)).map(([name, value]) => [name.toLowerCase(), value]);
  return { libraryId, folder: { id, storageId, path }, names, tags: Object.fromEntries(tags) };
}

/** The recording gets no file: its item goes, in the caller's transaction. */
export async function endItem(tx: Db, id: string): Promise<void> {
  const row = await lockRecording(tx, id);
  if (!row || row.item_id === null || row.finished_at !== null) return;
  await updateRecordingRow(tx, id, { item_id: null });
  await dropExpected(tx, row.library_id, row.item_id);
}

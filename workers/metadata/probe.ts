import { openMedia } from '#areas/storage/public.ts';
import { rowsOf } from '#platform/rows.ts';
import { type FileRow, probeAgain } from '../probe-again.ts';
import type { Work } from '../work.ts';

type Placed = FileRow & { folder_id: string };

/** Reads the files of an item again, although they did not change. Those of an unavailable storage are left out. */
export async function probeFiles(work: Work, itemId: string): Promise<void> {
  const rows = await rowsOf<Placed>(
    work.db,
    `select id, item_id, library_id, storage_id, folder_id, path, probe_version, size_bytes, modified_ms, inode
     from media_files where item_id = ? and missing_since is null and not ignored order by id`,
    [itemId],
  );
  for (const row of rows) {
    work.signal.throwIfAborted();
    const found = await openMedia(work, {
      ...{ storageId: row.storage_id, folderId: row.folder_id, path: row.path },
      ...{ sizeBytes: row.size_bytes, modifiedMs: row.modified_ms },
    });
    if (found.kind === 'there') await probeAgain(work, { ...row, probe: null, probe_fault: null }, found.absolute);
  }
}

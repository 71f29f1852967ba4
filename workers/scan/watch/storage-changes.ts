import { holdClocks } from '#areas/libraries/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import { changeState, isUnavailable, type StorageRow, takeReturned } from '#areas/storage/public.ts';
import type { Db } from '#platform/db.ts';
import type { Sight } from './voices.ts';

/** Writes the observed state and notifies once. False when another worker did, or the storage is held at degraded. */
export async function recordSight(db: Db, row: StorageRow, { observed, reason }: Sight): Promise<boolean> {
  const changed = await changeState(db, row, { to: observed, reason });
  if (!changed) return false;
  const was = isUnavailable(row.state);
  const is = isUnavailable(changed.to);
  if (was && !is) await holdClocks(db, row.id, changed.unavailableMs);
  const kind = is || changed.held ? 'storage-unavailable' : 'storage-available';
  if (was !== is || changed.held)
    await notify(db, { kind, target: { kind: 'storage', id: row.id }, data: { name: row.name } });
  return true;
}

/** Requests a quick scan of the content of storages that came back and stayed. */
export async function scanReturned(db: Db, quietMs: number): Promise<void> {
  const returned = await takeReturned(db, quietMs);
  if (returned.length === 0) return;
  const rows = await db('library_folders as f')
    .join('libraries as l', 'l.id', 'f.library_id')
    .whereNull('l.deleted_at')
    .select<{ id: string; libraryId: string; storageId: string }[]>('f.id', {
      libraryId: 'f.library_id',
      storageId: 'f.storage_id',
    });
  for (const [libraryId, folders] of Map.groupBy(rows, (row) => row.libraryId)) {
    const back = folders.filter((folder) => returned.includes(folder.storageId));
    if (back.length === 0) continue;
    const targets = back.length < folders.length ? back.map(({ id }) => ({ folderId: id })) : undefined;
    await requestScan(db, { libraryId, mode: 'quick', trigger: 'storage-returned', targets });
  }
}

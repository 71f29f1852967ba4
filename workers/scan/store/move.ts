import { noteSaves, savedItemsOf } from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { recordset, type Writing } from './context.ts';
import type { Placed } from './files.ts';
import type { KnownFile } from './known.ts';

/**
 * Updates rows of moved files: the content is the same, so id and streams stay. Files without an item keep their place.
 * In another library, the name of a file decides about its item again.
 */
export async function moveFiles(
  { db, library, folder }: Writing,
  moved: ReadonlyMap<string, KnownFile>,
  placed: readonly Placed[],
): Promise<void> {
  const rows = placed.flatMap(({ file: { path, walked } }) => {
    const known = moved.get(path);
    return known ? [{ id: known.id, path, modified_ms: walked.mtimeMs, inode: walked.inode }] : [];
  });
  if (rows.length === 0) return;
  await lookAgain(
    db,
    rows.map(({ id }) => id),
  );
  await db.raw(
    `update media_files f set path = r.path, modified_ms = r.modified_ms, inode = r.inode, pinned = f.pinned and f.library_id = ?,
       library_id = ?, folder_id = ?, storage_id = ?, missing_since = null, absent_scan = null, absence_kept = false, updated_at = now()
     from jsonb_to_recordset(?::jsonb) as r(id uuid, path text, modified_ms double precision, inode text) where f.id = r.id`,
    [library.id, library.id, folder.id, folder.storageId, recordset(rows)],
  );
  const ids = rows.map(({ id }) => id);
  await noteSaves(db, await savedItemsOf(db, ids), 'nfo'); // their files have other names now
}

/** Marks directories to be listed again when files leave them outside of their own listing. */
export async function lookAgain(db: Db, fileIds: readonly string[]): Promise<void> {
  await db.raw(
    `update scan_directories d set content = '', modified_ms = -1 from media_files f
     where f.id = any(?::uuid[]) and d.folder_id = f.folder_id and d.path = f.directory`,
    [[...fileIds]],
  );
}

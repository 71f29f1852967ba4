import type { Draft } from '../group/draft.ts';
import { recordset, type Writing } from './context.ts';
import type { KnownFile } from './known.ts';

/** Rows of files that lie elsewhere now: same content, so neither id, streams nor item change. */
export async function moveFiles(
  { db, library, folder }: Writing,
  moved: ReadonlyMap<string, KnownFile>,
  drafts: readonly Draft[],
): Promise<void> {
  const rows = drafts.flatMap((draft) =>
    draft.files.flatMap(({ path, walked }) => {
      const known = moved.get(path);
      return known ? [{ id: known.id, path, modified_ms: walked.mtimeMs, inode: walked.inode }] : [];
    }),
  );
  if (rows.length === 0) return;
  await db.raw(
    `update media_files f set path = r.path, modified_ms = r.modified_ms, inode = r.inode, library_id = ?, folder_id = ?, storage_id = ?,
       missing_since = null, absent_scan = null, absence_kept = false, updated_at = now()
     from jsonb_to_recordset(?::jsonb) as r(id uuid, path text, modified_ms double precision, inode text) where f.id = r.id`,
    [library.id, folder.id, folder.storageId, recordset(rows)],
  );
}

import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Draft } from '../group/draft.ts';
import type { KnownFile } from '../store/known.ts';
import type { Readings } from './read-files.ts';

/** A new file that is no media makes no item; a known one keeps its row with the fault. */
export function withoutFaulty(
  drafts: readonly Draft[],
  readings: Pick<Readings, 'faults' | 'read' | 'postponed'>,
): Draft[] {
  const bad = (path: string): boolean =>
    (readings.faults.has(path) && !readings.read.has(path)) || readings.postponed.has(path);
  const kept = drafts.flatMap((draft) => {
    if (draft.files.length === 0) return [draft];
    const files = draft.files.filter((file) => !bad(file.path));
    return files.length > 0 ? [{ ...draft, files }] : [];
  });
  const needed = new Set(kept.flatMap(({ parent, grandparent }) => [parent?.key, grandparent?.key]));
  const seasons = new Set(
    kept
      .filter((draft) => draft.files.length > 0)
      .flatMap(({ extra }) => (extra && 'key' in extra.of ? [extra.of.key] : [])),
  );
  return kept.filter(
    (draft) => draft.files.length > 0 || draft.onlyKnown || needed.has(draft.key) || seasons.has(draft.key),
  );
}

/**
 * Locks the rows of these files; returns the paths that another scan moved, or a person put into an item, since they were read. Runs after the locks
 * of libraries, as everywhere.
 */
export async function lockRows(db: Db, known: ReadonlyMap<string, KnownFile>): Promise<string[]> {
  const rows = await rowsOf<Pick<KnownFile, 'id' | 'folder_id' | 'path' | 'item_id'> & { pinned: boolean }>(
    db,
    'select id, folder_id, path, item_id, pinned from media_files where id = any(?::uuid[]) order by id for update',
    [[...known.values()].map(({ id }) => id)],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const changed = [...known].filter(([, before]) => {
    const now = byId.get(before.id);
    if (now?.folder_id !== before.folder_id || now.path !== before.path) return true;
    return now.pinned && (before.pinned_in === null || now.item_id !== before.item_id);
  });
  return changed.map(([path]) => path);
}

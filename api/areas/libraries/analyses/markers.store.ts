import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

/** Whether analyses pass over a file, because a person chose its markers. */
export async function lockMarkers(db: Db, fileId: string, locked: boolean): Promise<void> {
  await db('media_files').where({ id: fileId }).update({ markers_locked: locked });
}

export interface FoundMarker {
  kind: 'intro' | 'recap' | 'credits';
  startMs: number;
  endMs: number;
  /** 0 to 1. */
  confidence: number;
}

/**
 * Replaces what analyses found earlier of this kind in a file. Markers of chapters and people stay, and nothing is
 * added next to them; a locked file stays as it is.
 */
export async function saveFound(
  db: Db,
  { fileId, itemId }: { fileId: string; itemId: string },
  { kind, found }: { kind: FoundMarker['kind']; found: FoundMarker | undefined },
): Promise<void> {
  const file = await db('media_files').where({ id: fileId }).forUpdate().first('markers_locked');
  if (!file || file.markers_locked) return;
  await db('markers').where({ file_id: fileId, kind, source: 'analysis' }).delete();
  const other = await db('markers').where({ file_id: fileId, kind }).first('id');
  if (!found || other) return;
  const { startMs: start_ms, endMs: end_ms, confidence } = found;
  await db('markers').insert({
    ...{ id: newId(), item_id: itemId, file_id: fileId, kind, start_ms, end_ms, confidence, source: 'analysis' },
  });
}

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

/**
 * Replaces the commercial breaks that were found earlier in the file of a recording. Those of people and chapters stay,
 * and no other overlaps them; a locked file stays as it is.
 */
export async function saveCommercials(
  db: Db,
  { fileId, itemId }: { fileId: string; itemId: string },
  breaks: readonly Omit<FoundMarker, 'kind'>[],
): Promise<void> {
  const file = await db('media_files').where({ id: fileId }).forUpdate().first('markers_locked');
  if (!file || file.markers_locked) return;
  await db('markers').where({ file_id: fileId, kind: 'commercial', source: 'recording' }).delete();
  const kept = await db('markers').where({ file_id: fileId, kind: 'commercial' }).select('start_ms', 'end_ms');
  const added = breaks
    .map(({ startMs, endMs, confidence }) => ({
      ...{ id: newId(), item_id: itemId, file_id: fileId, kind: 'commercial' as const, source: 'recording' },
      ...{ start_ms: Math.round(startMs), end_ms: Math.round(endMs), confidence },
    }))
    .filter((one) => !kept.some((other) => one.start_ms < other.end_ms && other.start_ms < one.end_ms));
  if (added.length > 0) await db('markers').insert(added);
}

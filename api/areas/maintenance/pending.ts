// What waits for tasks: counted once in a while, so that reading maintenance costs nothing.
import { type AnalysisName, nextAnalysisDue, nextFileDue } from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import type { TaskId } from '#platform/maintenance/tasks.ts';

/** Counts are at most five minutes old; the clock that calls this ticks once a minute. */
const KEPT_MINUTES = 4;

const waitsFor =
  (name: AnalysisName) =>
  async (db: Db): Promise<number> =>
    (await nextAnalysisDue(db, { name, libraryId: undefined }))?.waiting ?? 0;

const counts: Partial<Record<TaskId, (db: Db) => Promise<number>>> = {
  'analysis.previews': waitsFor('previewThumbnails'),
  'analysis.intros': waitsFor('introDetection'),
  'analysis.credits': waitsFor('creditsDetection'),
  'analysis.voice': waitsFor('voiceActivity'),
  'library.fingerprint': async (db) => (await nextFileDue(db, undefined))?.waiting ?? 0,
};

/** Counts again what waits for each task whose count is old. */
export async function countPending(db: Db, now: Date): Promise<void> {
  const old = await db('maintenance_tasks')
    .whereIn('id', Object.keys(counts))
    .whereRaw('(pending_at is null or pending_at < ?::timestamptz - make_interval(mins => ?))', [now, KEPT_MINUTES])
    .pluck('id');
  for (const [id, count] of Object.entries(counts)) {
    if (!old.includes(id)) continue;
    await db('maintenance_tasks')
      .where({ id })
      .update({ pending: await count(db), pending_at: now });
  }
}

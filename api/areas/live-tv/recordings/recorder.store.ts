// Rows of recordings as the recorder writes them. Times are those of the database.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Gap, RecordingRow } from './recordings.store.ts';

/** Without a renewal for this long, another worker records. */
const LEASE = `interval '10 seconds'`;
/** Rows are held before their time, so that a viewer whose slot is needed is notified. */
const AHEAD = `interval '65 seconds'`;

export interface HeldRecording extends RecordingRow {
  /** The clock of the database. */
  now: Date;
}

/** Renews the leases of a worker, and takes recordings that are due, or whose worker is gone. */
export async function holdRecordings(db: Db, holder: string): Promise<HeldRecording[]> {
  return rowsOf<HeldRecording>(
    db,
    `update recordings set lease_holder = ?, lease_until = now() + ${LEASE}
      where id in (
        select id from recordings
         where (state = 'recording' or (state = 'scheduled' and planned_from <= now() + ${AHEAD})
             or (state = 'cancelled' and stop_at is not null and cleared_at is null))
           and (lease_until is null or lease_until < now() or lease_holder = ?)
         order by planned_from limit 50 for update skip locked)
      returning *, now() as now`,
    [holder, holder],
  );
}

/** Gives the leases of a worker back. */
export async function releaseRecordings(db: Db, holder: string): Promise<void> {
  await db('recordings').where({ lease_holder: holder }).update({ lease_holder: null, lease_until: null });
}

/** False when it was cancelled or moved in the meantime. */
export async function beginRecording(db: Db, { id, lease_holder: holder }: RecordingRow): Promise<boolean> {
  const begun = await db('recordings')
    .where({ id, state: 'scheduled', lease_holder: holder })
    .whereRaw('planned_from <= now()')
    .update({ state: 'recording', state_reason: null, started_at: db.fn.now(), updated_at: db.fn.now() });
  return begun > 0;
}

export interface Caught {
  recordedMs: number;
  sizeBytes: number;
  gaps: Gap[];
  lastSequence: number | null;
}

export async function noteCaught(db: Db, id: string, caught: Caught): Promise<void> {
  await db('recordings')
    .where({ id })
    .update({ ...columnsOf(caught), updated_at: db.fn.now() });
}

const columnsOf = ({ recordedMs, sizeBytes, gaps, lastSequence }: Caught) => ({
  ...{ recorded_ms: recordedMs, size_bytes: sizeBytes, gaps: JSON.stringify(gaps), last_sequence: lastSequence },
});

/** Why a running recording has nothing yet; null when it has. */
export async function noteReason(db: Db, id: string, reason: RecordingRow['state_reason']): Promise<void> {
  await db('recordings').where({ id, state: 'recording' }).update({ state_reason: reason });
}

export interface Ending {
  state: 'completed' | 'partial' | 'failed';
  reason: RecordingRow['state_reason'];
}

/** Ends a recording, in the transaction of its notification and job. False when it has ended or was cancelled. */
export async function endRecording(db: Db, row: RecordingRow, { state, reason, ...caught }: Ending & Caught) {
  const ended = await db('recordings')
    .where({ id: row.id, lease_holder: row.lease_holder })
    .whereIn('state', ['scheduled', 'recording'])
    .update({
      ...columnsOf(caught),
      ...{ state, state_reason: reason, ended_at: db.fn.now(), updated_at: db.fn.now() },
      ...{ lease_holder: null, lease_until: null },
    });
  return ended > 0;
}

/** Conflicts whose programme is over fail. */
export async function failConflicts(db: Db): Promise<RecordingRow[]> {
  return db('recordings')
    .where({ state: 'conflict' })
    .whereRaw('end_at <= now()')
    .update({ state: 'failed', ended_at: db.fn.now(), cleared_at: db.fn.now(), updated_at: db.fn.now() })
    .returning('*');
}

/** The segments of a recording are removed: its row is left, and perhaps its file. */
export async function markCleared(db: Db, id: string): Promise<void> {
  await db('recordings').where({ id }).update({ cleared_at: db.fn.now(), lease_holder: null, lease_until: null });
}

/** The job that joins the parts of a recording, or removes those of a deleted one that cannot be joined. */
export const finishOf = ({ id, title }: Pick<RecordingRow, 'id' | 'title'>) => ({
  payload: { recordingId: id },
  options: { key: `live.finish:${id}`, target: { kind: 'recording' as const, id, title } },
});

/** Where the file will be, written before it appears, so that a repeated run finds it. */
export async function notePlace(db: Db, id: string, { folderId, path }: { folderId: string; path: string }) {
  await db('recordings').where({ id }).update({ file_folder_id: folderId, file_path: path });
}

/** The file is an item of its library. */
export async function finishRecording(db: Db, id: string, itemId: string): Promise<void> {
  await db('recordings').where({ id }).update({ item_id: itemId, finished_at: db.fn.now(), updated_at: db.fn.now() });
}

/** Whether an open session plays a recording from its parts. */
export async function isWatchedGrowing(db: Db, id: string): Promise<boolean> {
  const [row] = await rowsOf<{ watched: boolean }>(
    db,
    `select exists (select from playback_sessions p where p.live ->> 'recordingId' = ? and p.state <> 'stopped') as watched`,
    [id],
  );
  return row?.watched ?? false;
}

import { randomBytes } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import type { Sync } from '#platform/subtitles/syncs.ts';
import type { Timing, TimingPiece } from '#platform/subtitles/timing.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'subtitle_syncs.pieces': TimingPiece[];
  }
}

export interface Correction extends Timing {
  source: 'manual' | 'auto';
  confidence?: number;
  accountId: string | null;
}

/** Replaces the correction of a track. */
export async function putSync(
  db: Db,
  track: Pick<Sync, 'fileId' | 'track' | 'content'>,
  made: Correction,
): Promise<void> {
  const row = {
    ...{ content: track.content, offset_ms: made.offsetMs, rate: made.rate, pieces: JSON.stringify(made.pieces) },
    ...{ source: made.source, confidence: made.confidence ?? null, account_id: made.accountId },
    version: randomBytes(9).toString('base64url'),
    set_at: db.fn.now(),
  };
  await db('subtitle_syncs')
    .insert({ file_id: track.fileId, track: track.track, ...row })
    .onConflict(['file_id', 'track'])
    .merge(row);
}

/** Returns whether there was a correction. */
export async function deleteSync(db: Db, track: Pick<Sync, 'fileId' | 'track'>): Promise<boolean> {
  return (await db('subtitle_syncs').where({ file_id: track.fileId, track: track.track }).delete()) > 0;
}

/** An automatic correction that waits or runs. */
export interface RunningSync {
  id: string;
  progress: number;
  startedAt: Date;
}

/** Key of the job that corrects a track by its soundtrack. */
export const syncKey = (streamId: string): string => `subtitles.sync:${streamId}`;

export async function findRunningSync(db: Db, streamId: string): Promise<RunningSync | undefined> {
  const row = await db('jobs') // not by its key, which a job loses when it waits again
    .where({ kind: 'subtitles.sync', cancel_requested: false })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .whereRaw(`payload->>'streamId' = ?`, [streamId])
    .first('id', 'progress', 'started_at', 'created_at');
  return row && { id: row.id, progress: row.progress, startedAt: row.started_at ?? row.created_at };
}

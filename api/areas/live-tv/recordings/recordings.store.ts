import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

/** A part of the broadcast that a recording lacks. ISO times. */
export interface Gap {
  from: string;
  to: string;
  reason: string;
}

/** Why a recording has no slot. ISO times. */
export interface StoredConflict {
  with: string[];
  slotsNeeded: number;
  slotsFree: number;
  from: string;
  to: string;
  /** Ids of programmes: other airings that would get a slot. */
  alternatives: string[];
}

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'recordings.gaps': Gap[];
    'recordings.conflict': StoredConflict;
  }
}

export type RecordingRow = Row<'recordings'>;
export type RecordingState = RecordingRow['state'];

/** States in which a recording is still to come or running. */
export const OPEN_STATES = ['scheduled', 'conflict', 'recording'] as const satisfies readonly RecordingState[];

export async function findRecording(db: Db, id: string): Promise<RecordingRow | undefined> {
  return db('recordings').where({ id }).first();
}

import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { rowsOf } from '#platform/rows.ts';
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

export const isOpen = ({ state }: Pick<RecordingRow, 'state'>): boolean => OPEN_STATES.some((one) => one === state);

export async function findRecording(db: Db, id: string): Promise<RecordingRow | undefined> {
  return db('recordings').where({ id }).first();
}

/** A row that must be there. */
export async function getById(db: Db, id: string): Promise<RecordingRow> {
  const row = await findRecording(db, id);
  if (!row) throw new Error('no row');
  return row;
}

/** As findRecording, locked until the transaction ends. */
export async function lockRecording(db: Db, id: string): Promise<RecordingRow | undefined> {
  return db('recordings').where({ id }).forUpdate().first();
}

type Sought = Pick<RecordingRow, 'program_id' | 'channel_id' | 'start_at' | 'end_at'>;

/** The planned or running recording of a programme, or of the same time of a channel. */
export async function findSame(
  db: Db,
  { program_id, channel_id, start_at, end_at }: Sought,
): Promise<RecordingRow | undefined> {
  const same = program_id === null ? { program_id, channel_id, start_at, end_at } : { program_id };
  return db('recordings').where(same).whereIn('state', OPEN_STATES).first();
}

export async function countOpen(db: Db, accountId: string): Promise<number> {
  const [row] = await rowsOf<{ open: number }>(
    db,
    'select count(*)::int as open from recordings where account_id = ? and state = any(?)',
    [accountId, [...OPEN_STATES]],
  );
  return row?.open ?? 0;
}

type Needed = 'channel_name' | 'title' | 'start_at' | 'end_at' | 'start_pad_ms' | 'end_pad_ms' | 'library_id';

/** Returns the id of the new row. */
export async function insertRecording(
  db: Db,
  row: Partial<RecordingRow> & Pick<RecordingRow, Needed>,
): Promise<string> {
  const { gaps: _gaps, conflict: _conflict, ...columns } = row;
  const id = newId();
  await db('recordings').insert({ ...columns, id });
  return id;
}

export async function updateRecordingRow(
  db: Db,
  id: string,
  { gaps: _gaps, conflict: _conflict, ...change }: Partial<RecordingRow>,
): Promise<void> {
  await db('recordings')
    .where({ id })
    .update({ ...change, updated_at: db.fn.now() });
}

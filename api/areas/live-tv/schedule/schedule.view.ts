import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Recording } from '../recordings/recordings.schemas.ts';
import { OPEN_STATES, type RecordingRow } from '../recordings/recordings.store.ts';
import { toRecordings } from '../recordings/recordings.view.ts';
import { visibleRecordings } from '../recordings/visible.ts';
import { MOST_ENTRIES, type RecordingSchedule, type ScheduleEntry, type ScheduleQuery } from './schedule.schemas.ts';

const DAY_MS = 86_400_000;

/** The planned and running recordings of a window. Throws 400 for a window that is not one. */
export async function scheduleOf(call: Call, query: ScheduleQuery): Promise<RecordingSchedule> {
  const rows = await rowsWithin(call, windowOf(call.now, query), query.conflictsOnly);
  const seen = await seenOf(call, rows);
  const plan = await call.db('recording_plan').first('computed_at');
  return {
    items: rows.map((row) => entryOf(row, { rows, recording: seen.get(row.id) ?? blockOf(row) })),
    slots: await slotsOf(call),
    ...(plan?.computed_at && { computedAt: iso(plan.computed_at) }),
  };
}

function windowOf(now: Date, query: ScheduleQuery): { from: Date; to: Date } {
  const from = query.from === undefined ? now : new Date(query.from);
  const to = query.to === undefined ? new Date(from.getTime() + 7 * DAY_MS) : new Date(query.to);
  if (to <= from || to.getTime() > now.getTime() + 21 * DAY_MS + 60_000)
    throw invalid(['query', 'to'], 'out_of_range', 'after `from`, and at most 21 days ahead');
  return { from, to };
}

async function rowsWithin(
  { db }: Call,
  { from, to }: { from: Date; to: Date },
  conflictsOnly: boolean,
): Promise<RecordingRow[]> {
  return rowsOf<RecordingRow>(
    db,
    `select * from recordings
      where state = any(?) and start_at - start_pad_ms * interval '1 millisecond' < ?
        and end_at + end_pad_ms * interval '1 millisecond' > ?
      order by start_at, id limit ?`,
    [conflictsOnly ? ['conflict'] : [...OPEN_STATES], to, from, MOST_ENTRIES],
  );
}

async function seenOf(call: Call, rows: readonly RecordingRow[]): Promise<Map<string, Recording>> {
  const ids = rows.map(({ id }) => id);
  const visible: RecordingRow[] = await visibleRecordings(call.db, call.who).whereRaw('r.id = any(?::uuid[])', [ids]);
  return new Map((await toRecordings(call, visible)).map((recording) => [recording.id, recording]));
}

/** In place of a library that the caller may not know. */
const NONE = '00000000-0000-0000-0000-000000000000';

/** The time and the slot of a recording that the caller may not see. */
function blockOf(row: RecordingRow): Recording {
  return {
    ...{ id: row.id, channelName: '', title: '', startAt: iso(row.start_at), endAt: iso(row.end_at) },
    ...{ startPadMs: row.start_pad_ms, endPadMs: row.end_pad_ms, state: row.state, priority: row.priority },
    ...{ mine: false, libraryId: NONE, recordedMs: 0, gaps: [] },
    ...{ createdAt: iso(row.created_at), updatedAt: iso(row.updated_at) },
  };
}

function entryOf(
  row: RecordingRow,
  { rows, recording }: { rows: readonly RecordingRow[]; recording: Recording },
): ScheduleEntry {
  return {
    recording,
    ...(row.tuner_id !== null && { tunerId: row.tuner_id }),
    ...(row.slot !== null && { slot: row.slot }),
    sharedWith: rows.filter((other) => isShared(row, other)).map(({ id }) => id),
  };
}

function isShared(row: RecordingRow, other: RecordingRow): boolean {
  if (row.id === other.id || row.channel_id === null || row.channel_id !== other.channel_id) return false;
  if (!row.planned_from || !row.planned_to || !other.planned_from || !other.planned_to) return false;
  return row.planned_from < other.planned_to && other.planned_from < row.planned_to;
}

async function slotsOf({ db, who }: Call): Promise<RecordingSchedule['slots']> {
  const tuners = await db('live_tuners').where({ enabled: true }).orderBy('name').select('id', 'name', 'slot_count');
  const isNamed = may(who, 'library:manage');
  return tuners.map(({ id, name, slot_count: slotCount }) => ({ tunerId: id, ...(isNamed && { name }), slotCount }));
}

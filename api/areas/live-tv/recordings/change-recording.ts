import { findVisibleItem } from '#areas/items/public.ts';
import { raiseChanges, touchItems } from '#areas/libraries/public.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { lockSchedule } from '../schedule/schedule.store.ts';
import { airingOf, requireTime } from './airing.ts';
import { planNow } from './plan-now.ts';
import type { RecordingChange } from './recordings.schemas.ts';
import { findSame, getById, isOpen, lockRecording, type RecordingRow, updateRecordingRow } from './recordings.store.ts';
import { chooseTarget } from './target.ts';
import { getOwnRecording } from './visible.ts';

type Columns = Partial<RecordingRow>;
type Field = keyof RecordingChange;

/** While recording, its end, priority and keepDays change. */
const WHILE_RECORDING: readonly Field[] = ['endAt', 'endPadMs', 'priority', 'keepDays'];

/** Changes a recording and makes the plan again. Throws 400, 403, 404, 409 and 415 as updateRecording describes. */
export async function changeRecording(call: Call, id: string, change: RecordingChange): Promise<RecordingRow> {
  const { db } = call;
  await getOwnRecording(call, id);
  await lockSchedule(db);
  const row = await lockRecording(db, id);
  if (!row) throw notFound();
  refuseFields(row, change);
  const columns = await columnsOf(call, row, change);
  await updateRecordingRow(db, id, { ...columns, by_hand: true });
  if (isOpen(row)) await planNow(call);
  if (row.item_id !== null) await touchItem(call, row.item_id);
  return getById(db, id);
}

async function touchItem({ db, who }: Call, itemId: string): Promise<void> {
  const item = await findVisibleItem(db, who, itemId);
  if (!item) return;
  await raiseChanges(db, [item.libraryId]);
  await touchItems(db, [itemId], ['recording']);
}

/** Throws 409 for fields that do not change any more. */
function refuseFields(row: RecordingRow, change: RecordingChange): void {
  const fields = (Object.keys(change) as Field[]).filter((name) => change[name] !== undefined);
  if (row.state === 'scheduled' || row.state === 'conflict') return;
  const allowed = row.state === 'recording' ? WHILE_RECORDING : (['keepDays'] as const);
  const refused = fields.filter((name) => !(allowed as readonly Field[]).includes(name));
  if (refused.length === 0) return;
  if (row.state === 'recording')
    throw conflict('recording-running', 'While it records, only its end, priority and keepDays change', {
      fields: refused,
    });
  throw conflict('recording-finished', 'The recording has ended: only keepDays changes', { fields: refused });
}

async function columnsOf(call: Call, row: RecordingRow, change: RecordingChange): Promise<Columns> {
  const moved = await movedTo(call, row, change.programId);
  return {
    ...moved,
    ...endOf(call, { ...row, ...moved }, change.endAt),
    ...plainOf(change),
    ...(await targetOf(call, { ...row, ...moved }, change)),
  };
}

/** Throws 409 for an airing that is planned already. */
async function movedTo(call: Call, row: RecordingRow, programId: string | undefined): Promise<Columns> {
  if (programId === undefined || programId === row.program_id) return {};
  requireAllowed(call.who, 'record');
  const airing = await airingOf(call, programId);
  const other = await findSame(call.db, airing);
  if (other) throw conflict('already-planned', 'That airing is planned already', { recordingId: other.id });
  return { ...airing, state_reason: null };
}

/** An end that is not after now stops a running recording at once; it keeps the times of its programme. */
function endOf({ now }: Call, row: RecordingRow, endAt: string | undefined): Columns {
  if (endAt === undefined) return {};
  const end = new Date(endAt);
  if (row.state === 'recording' && end <= now) return { stop_at: now };
  requireTime(now, { startAt: row.start_at, endAt: end });
  return { end_at: end };
}

function plainOf({ startPadMs, endPadMs, priority, keepDays }: RecordingChange): Columns {
  const columns = { start_pad_ms: startPadMs, end_pad_ms: endPadMs, priority, keep_days: keepDays };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

async function targetOf(call: Call, row: RecordingRow, { libraryId, folderId }: RecordingChange): Promise<Columns> {
  if (libraryId === undefined && folderId === undefined) return {};
  const choice = { libraryId: libraryId ?? row.library_id, folderId, channelId: row.channel_id };
  const target = await chooseTarget(call, choice);
  return { library_id: target.libraryId, folder_id: target.folderId };
}

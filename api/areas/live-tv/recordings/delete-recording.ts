import { findVisibleItem } from '#areas/items/public.ts';
import { refuseMoves } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { lockSchedule } from '../schedule/schedule.store.ts';
import { findOwnFile } from './keeping.store.ts';
import { planNow } from './plan-now.ts';
import { finishOf } from './recorder.store.ts';
import { isOpen, lockRecording, type RecordingRow, updateRecordingRow } from './recordings.store.ts';
import { trashRecording } from './removal.ts';
import { getOwnRecording } from './visible.ts';

/**
 * Cancels a planned recording, discards a running one, and takes a finished one from the list. Throws 403, 404, and 409 when its
 * file may not be moved.
 */
export async function deleteRecordingOf(
  call: Call,
  id: string,
  { deleteFile }: { deleteFile: boolean },
): Promise<void> {
  const { db } = call;
  await getOwnRecording(call, id);
  await lockSchedule(db);
  const row = await lockRecording(db, id);
  if (!row) throw notFound();
  if (isOpen(row)) await cancel(call, row);
  else await remove(call, row, deleteFile);
}

/** The row stays, so that no rule takes this airing again. The recorder removes what a running one has caught. */
async function cancel(call: Call, row: RecordingRow): Promise<void> {
  await updateRecordingRow(call.db, row.id, {
    ...{ state: 'cancelled', state_reason: null, by_hand: true },
    ...(row.state === 'recording' ? { stop_at: call.now } : { planned_from: null, planned_to: null, slot: null }),
  });
  await planNow(call);
}

/** The row stays without its rule and its days, which would delete the file: rules read in it which episode was recorded. */
async function remove(call: Call, row: RecordingRow, deleteFile: boolean): Promise<void> {
  const { db, now } = call;
  const isJoined = row.finished_at !== null || row.ended_at === null;
  const thrown = deleteFile && !isJoined && { state: 'cancelled' as const, stop_at: now };
  if (deleteFile && isJoined) await trashItem(call, row);
  await updateRecordingRow(db, row.id, { removed_at: now, rule_id: null, keep_days: null, ...thrown });
  if (!isJoined && !thrown) await finish(call, row);
}

/** Its file is still to come. Parts that could not be joined have no other job that removes them. */
async function finish({ enqueue }: Call, row: RecordingRow): Promise<void> {
  const { payload, options } = finishOf(row);
  await enqueue('live.finish', payload, options);
}

/** As deleteItem does with its files; an item that is gone already needs nothing. */
async function trashItem(call: Call, row: RecordingRow): Promise<void> {
  const { db, who, enqueue } = call;
  const item = row.item_id === null ? undefined : await findVisibleItem(db, who, row.item_id);
  if (!item) return;
  await refuseMoves(db, item);
  if (!(await findOwnFile(db, row)))
    throw conflict('file-moved', 'Its file was moved or renamed among the other files of its item', {
      itemId: item.id,
    });
  const trashed = await trashRecording(db, row, { accountId: who.accountId || null, enqueue });
  const action = trashed.length > 0 ? 'item.deleted' : 'item.edition-deleted';
  await audit(call, action, { itemId: item.id, title: item.title, children: 0, files: 'trash' });
}

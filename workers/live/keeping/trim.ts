// The clean-up of finished recordings. It takes the way of deleteRecording: file and item go to the trash of their library.

import { purgeEntries } from '#areas/libraries/public.ts';
import {
  bytesOnTheirWayOut,
  expireRecording,
  findExpired,
  findKeepable,
  type Keepable,
  lockRecording,
  recordingsToRemove,
  trashRecording,
} from '#areas/live-tv/public.ts';
import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';
import type { WorkerDeps } from '#workers/work.ts';

type Deps = Pick<WorkerDeps, 'db' | 'log'>;

/** Whether a recording is beyond its days, or beyond the number that its rule keeps, and may go. */
export async function isTrimDue(db: Db): Promise<boolean> {
  return recordingsToRemove(await findKeepable(db), new Date()).length > 0;
}

/** Removes recordings that are beyond keepDays or keepLast, oldest first. One that cannot go now stays in the list. */
export async function trimRecordings({ db, log }: Deps, signal?: AbortSignal): Promise<{ recordings: number }> {
  let recordings = 0;
  for (const one of recordingsToRemove(await findKeepable(db), new Date())) {
    signal?.throwIfAborted();
    const isGone = await db
      .transaction((tx) => remove(tx, one))
      .catch((error: unknown) => {
        log.warn({ err: error, recording: one.id }, 'a recording was not removed');
        return false;
      });
    if (isGone) recordings += 1;
  }
  return { recordings };
}

/** False when it is watched or was changed since it was chosen. */
async function remove(tx: Db, chosen: Keepable): Promise<boolean> {
  const row = await lockRecording(tx, chosen.id);
  if (!row || row.keep_days !== chosen.keepDays || row.rule_id !== chosen.ruleId) return false;
  const [now] = await findKeepable(tx, row.id);
  if (!now?.mayGo) return false;
  await trashRecording(tx, row, { accountId: null, enqueue: enqueuing(tx) });
  await expireRecording(tx, row.id);
  return true;
}

type Enqueue = Parameters<typeof trashRecording>[2]['enqueue'];
const enqueuing =
  (db: Db): Enqueue =>
  (name, payload, options = {}) =>
    enqueue(db, name, { payload, options });

/**
 * Deletes from the trash of a storage what the clean-up has put there, oldest first, until so many bytes are on their way out.
 * What people have put there stays.
 */
export async function purgeExpired({ db }: Deps, storageId: string, bytes: number): Promise<void> {
  let left = bytes - (await bytesOnTheirWayOut(db, storageId));
  for (const { itemId, libraryId, sizeBytes } of await findExpired(db, storageId)) {
    if (left <= 0) break;
    const purged = await db.transaction(async (tx) => {
      const entries = await purgeEntries(tx, libraryId, [itemId]);
      await enqueue(tx, 'library.purge', { payload: { files: true }, options: { key: 'library.purge:files' } });
      return entries;
    });
    if (purged > 0) left -= sizeBytes;
  }
}

import { forgetLabels } from '#areas/labels/public.ts';
import {
  countTrash,
  filesOfEntries,
  obstacles,
  purgeEntries,
  selectTrash,
  settingsOf,
  trashEntries,
  wantOldGone,
} from '#areas/libraries/public.ts';
import { endForLibrary } from '#areas/live-tv/public.ts';
import { dropRemovedTrickplay, removeTrickplay, stopTranscodeSessions } from '#areas/streaming/public.ts';
import { stopSession } from '#areas/viewing/public.ts';
import type { Db } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { removeParts } from '#platform/live/parts.ts';
import { moveFiles } from './trash/move-files.ts';
import { Postponed, type Work } from './work.ts';

const BATCH = 1000;
const DAY_MS = 86_400_000;
/** A recorder needs this long for the recordings that it ends. */
const HELD_MS = 5000;

/** Nightly: purges expired trash in every library; for one library, the entries that emptying its trash left. Then moves files. */
export async function purgeTrash(payload: JobPayload<'library.purge'>, work: Work): Promise<{ purged: number }> {
  const { db } = work;
  const purged = payload.files ? 0 : await purgeItems(payload, work);
  if (!payload.files && !payload.libraryId) {
    await db('item_tombstones').where('expires_at', '<', new Date()).delete();
    await forgetLabels(db);
  }
  await moveFiles(work);
  return { purged };
}

async function purgeItems(payload: JobPayload<'library.purge'>, work: Work): Promise<number> {
  const { db } = work;
  if (payload.libraryId) {
    const before = payload.before ? new Date(payload.before) : new Date();
    return purgeBefore(work, { libraryId: payload.libraryId, before, reason: payload.reason });
  }
  const libraries = await db('libraries')
    .whereNull('deleted_at')
    .whereRaw('(trash_count > 0 or exists (select from trashed_files t where t.library_id = libraries.id))')
    .select('id', 'type', 'settings');
  let purged = 0;
  for (const library of libraries) {
    const { trashKeepDays } = settingsOf(library, { language: 'en', country: null });
    if (trashKeepDays === 0) continue; // keeps for ever
    const before = new Date(Date.now() - trashKeepDays * DAY_MS);
    await wantOldGone(db, library.id, before);
    purged += await purgeBefore(work, { libraryId: library.id, before });
  }
  return purged;
}

interface Purge {
  libraryId: string;
  before: Date;
  reason?: string | undefined;
}

/** In batches; files on an unavailable storage stay, because they may come back. */
async function purgeBefore({ db, signal }: Work, purge: Purge): Promise<number> {
  let purged = 0;
  const kept = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const batch = await selectTrash(db, trashEntries(db, purge))
      .whereNotIn('i.id', [...kept])
      .limit(BATCH);
    if (batch.length === 0) return purged;
    const ids = batch.map((row) => row.id);
    const staying = obstacles(await filesOfEntries(db, ids));
    for (const id of staying.keys()) kept.add(id);
    const going = ids.filter((id) => !staying.has(id));
    purged += await db.transaction((transaction) => purgeEntries(transaction, purge.libraryId, going));
    await countTrash(db, purge.libraryId);
  }
}

/** Deletes rows of a deleted library in batches; media files are never touched. Its streams end first. */
export async function deleteLibraryRows({ libraryId }: JobPayload<'library.delete'>, work: Work): Promise<void> {
  const { db, objects, signal } = work;
  await endStreams(db, libraryId);
  await dropParts(work, libraryId);
  await removeTrickplay(db, libraryId);
  await dropRemovedTrickplay(db, objects, signal);
  for (let gone = BATCH; gone > 0; ) {
    signal.throwIfAborted();
    const some = db('items').where({ library_id: libraryId }).limit(BATCH).select('id');
    gone = await db('items').whereIn('id', some).delete();
  }
  await db('libraries').where({ id: libraryId }).whereNotNull('deleted_at').delete();
}

/** The parts of recordings for the library, while their rows still name them. Throws `Postponed` while one is written. */
async function dropParts(work: Work, libraryId: string): Promise<void> {
  const recordings = await endForLibrary(work.db, libraryId);
  if (recordings.some(({ held }) => held)) throw new Postponed(new Date(Date.now() + HELD_MS));
  for (const { id } of recordings) await removeParts(work, id);
}

async function endStreams(db: Db, libraryId: string): Promise<void> {
  const open = await db('playback_sessions')
    .where({ library_id: libraryId })
    .whereNot({ state: 'stopped' })
    .select('id');
  for (const { id } of open) {
    await db.transaction(async (transaction) => {
      await stopSession(transaction, id, { reason: 'ended' });
      await stopTranscodeSessions(transaction, id);
    });
  }
}

import type { Call } from '#kernel/endpoint.ts';
import { emitMany } from '#platform/outbox.ts';
import type { EmptiedTrash, RestoredTrash, RestoreTrash } from './trash.schemas.ts';
import {
  factsOfItems,
  filesOfEntries,
  purgeEntries,
  type Restorable,
  restorability,
  restoreEntries,
  selectTrash,
  trashEntries,
} from './trash.store.ts';

const MOST_AT_ONCE = 1000;
const MOST_SKIPPED = 200;

/** Purges the first 1,000 entries and queues a job for the rest. Entries on an unavailable storage stay. */
export async function emptyTrashOf(
  { db, now, enqueue }: Call,
  libraryId: string,
  { reason, before }: { reason?: string | undefined; before?: string | undefined },
): Promise<EmptiedTrash> {
  const until = before ? new Date(before) : now;
  const entries = await selectTrash(db, trashEntries(db, { libraryId, reason, before: until }))
    .orderBy('i.trashed_at')
    .limit(MOST_AT_ONCE + 1);
  const ids = entries.slice(0, MOST_AT_ONCE).map((row) => row.id);
  const files = await filesOfEntries(db, ids);
  const unavailable = new Set(files.filter((file) => file.unavailable).map((file) => file.entry_id));
  const available = ids.filter((id) => !unavailable.has(id));
  const purged = await purgeEntries(db, libraryId, available);
  const rest = { libraryId, before: until.toISOString(), ...(reason ? { reason } : {}) };
  const jobId = entries.length > MOST_AT_ONCE ? await enqueue('library.purge', rest, { libraryId }) : undefined;
  const skipped = [...unavailable].slice(0, MOST_SKIPPED);
  return {
    ...{ purged, filesDeleted: 0, bytesFreed: 0, ...(jobId ? { jobId } : {}) },
    skipped: skipped.map((itemId) => ({ itemId, reason: 'storage-unavailable' as const })),
  };
}

/** Restores the entries that can be restored and reports the others. */
export async function restoreFromTrash(
  db: Call['db'],
  libraryId: string,
  { itemIds, reason }: RestoreTrash,
): Promise<RestoredTrash> {
  const requested = itemIds ?? (await allEntries(db, { libraryId, reason }));
  const known = await restorability(db, libraryId, requested);
  const notRestored = requested.flatMap((itemId) => {
    const obstacle = obstacleOf(known.get(itemId));
    return obstacle ? [{ itemId, reason: obstacle }] : [];
  });
  const ids = requested.filter((id) => !notRestored.some((one) => one.itemId === id));
  await emitRestored(db, libraryId, await restoreEntries(db, libraryId, ids));
  const missing = ids.filter((id) => known.get(id)?.missing).length;
  return { restored: ids.length - missing, missing, notRestored };
}

async function allEntries(
  db: Call['db'],
  filter: { libraryId: string; reason: string | undefined },
): Promise<string[]> {
  const rows = await selectTrash(db, trashEntries(db, filter));
  return rows.map((row) => row.id);
}

function obstacleOf(entry: Restorable | undefined): 'not-in-trash' | 'storage-unavailable' | 'folder-gone' | undefined {
  if (!entry) return 'not-in-trash';
  if (entry.folder_gone) return 'folder-gone';
  return entry.unavailable ? 'storage-unavailable' : undefined;
}

async function emitRestored(db: Call['db'], libraryId: string, ids: readonly string[]): Promise<void> {
  const rows = await factsOfItems(db, ids);
  const events = rows.map(({ id: itemId, age_years, labels }) => ({
    payload: { itemId, libraryId },
    facts: { itemId, libraryId, labels, ...(age_years !== null && { ageYears: age_years }) },
  }));
  await emitMany(db, 'item.added', events);
}

import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
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
  type TrashFile,
  trashEntries,
} from './trash.store.ts';
import { enqueueMoves, takenPlaces, wantBack } from './trashed-files.ts';

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
  const skipped = obstacles(files);
  const freed = freedBy(files.filter((file) => !skipped.has(file.entry_id)));
  const purged = await purgeEntries(
    db,
    libraryId,
    ids.filter((id) => !skipped.has(id)),
  );
  if (freed.filesDeleted > 0) await enqueueMoves(enqueue);
  const rest = { libraryId, before: until.toISOString(), ...(reason ? { reason } : {}) };
  const jobId = entries.length > MOST_AT_ONCE ? await enqueue('library.purge', rest, { libraryId }) : undefined;
  return {
    ...{ purged, ...freed, ...(jobId ? { jobId } : {}) },
    skipped: [...skipped].slice(0, MOST_SKIPPED).map(([itemId, reason]) => ({ itemId, reason })),
  };
}

/** Purges one entry. Throws 404 for others, 423 and 409 `read-only` while its files cannot be deleted. */
export async function purgeOne(
  { db, enqueue }: Call,
  libraryId: string,
  itemId: string,
): Promise<{ purged: number; filesDeleted: number; bytesFreed: number }> {
  const entry = (await restorability(db, libraryId, [itemId])).get(itemId);
  if (!entry) throw notFound();
  const files = await filesOfEntries(db, [itemId]);
  if (entry.unavailable) throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', {});
  if (files.some((file) => file.in_trash && file.read_only))
    throw conflict('read-only', 'The storage is read-only, so files in its trash cannot be deleted');
  const freed = freedBy(files);
  const purged = await purgeEntries(db, libraryId, [itemId]);
  if (freed.filesDeleted > 0) await enqueueMoves(enqueue);
  return { purged, ...freed };
}

/** Entries that are not purged now: those on an unavailable storage may come back. */
export function obstacles(files: readonly TrashFile[]): Map<string, 'storage-unavailable' | 'read-only'> {
  const readOnly = files.filter((file) => file.in_trash && file.read_only);
  return new Map([
    ...readOnly.map((file) => [file.entry_id, 'read-only'] as const),
    ...files.filter((file) => file.unavailable).map((file) => [file.entry_id, 'storage-unavailable'] as const),
  ]);
}

function freedBy(files: readonly TrashFile[]): { filesDeleted: number; bytesFreed: number } {
  const own = files.filter((file) => file.in_trash);
  return { filesDeleted: own.length, bytesFreed: own.reduce((sum, file) => sum + file.size_bytes, 0) };
}

/** Restores the entries that can be restored and reports the others. */
export async function restoreFromTrash(
  call: Call,
  libraryId: string,
  { itemIds, reason }: RestoreTrash,
): Promise<RestoredTrash> {
  const { db, enqueue } = call;
  const requested = itemIds ?? (await allEntries(db, { libraryId, reason }));
  const known = await restorability(db, libraryId, requested);
  const taken = await takenPlaces(call, [...known.keys()]);
  const notRestored = requested.flatMap((itemId) => {
    const obstacle = obstacleOf(known.get(itemId)) ?? (taken.has(itemId) ? ('target-exists' as const) : undefined);
    return obstacle ? [{ itemId, reason: obstacle }] : [];
  });
  const ids = requested.filter((id) => !notRestored.some((one) => one.itemId === id));
  await bringBack({ db, enqueue }, libraryId, ids);
  const missing = ids.filter((id) => known.get(id)?.missing).length;
  return { restored: ids.length - missing, missing, notRestored };
}

/** Restores items of the trash with their descendants, and the files that were moved with them. */
export async function bringBack(
  { db, enqueue }: Pick<Call, 'db' | 'enqueue'>,
  libraryId: string,
  ids: readonly string[],
): Promise<void> {
  const restored = await restoreEntries(db, libraryId, ids);
  if ((await wantBack(db, restored)) > 0) await enqueueMoves(enqueue);
  await emitRestored(db, libraryId, restored);
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

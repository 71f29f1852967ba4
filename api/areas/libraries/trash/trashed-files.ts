// Media files in the trash folder of their storage. Each row is written before a file moves, so that a job ends every move.
import { dirname, join } from 'node:path';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { addToLibraries, measure, nextChanges, rollUpItems, withParents } from '../rollup.store.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'trashed_files.wanted': 'trash' | 'place' | 'none';
  }
}

export type TrashedFile = Row<'trashed_files'>;

/** An item whose files may not move, by the same reasons for one and for many. */
export interface RefusedMove {
  itemId: string;
  reason: 'file-deletion-off' | 'read-only' | 'storage-unavailable';
  /** Absent when the library does not allow it. */
  storageId?: string;
}

/** Those of the items whose files, or files of their children, may not move to the trash. */
export async function refusedMoves(db: Db, ids: readonly string[]): Promise<RefusedMove[]> {
  const rows = await rowsOf<{ id: string; allowed: boolean; storages: string[] }>(
    db,
    `select e.id, coalesce(l.settings -> 'fileDeletion' = 'true', false) as allowed,
       array(select distinct f.storage_id from items i join media_files f on f.item_id = i.id
         where e.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of) order by 1) as storages
     from items e join libraries l on l.id = e.library_id where e.id = any(?::uuid[])`,
    [[...ids]],
  );
  const storages = await findStorages(db, [...new Set(rows.flatMap((row) => row.storages))]);
  return rows.flatMap(({ id: itemId, allowed, storages: own }): RefusedMove[] => {
    if (!allowed) return [{ itemId, reason: 'file-deletion-off' }];
    const refused = own.flatMap((id) => storages.get(id) ?? []).flatMap((storage) => refusalOf(itemId, storage));
    return refused.slice(0, 1);
  });
}

function refusalOf(itemId: string, storage: { id: string; readOnly: boolean; state: string }): RefusedMove[] {
  const { id: storageId } = storage;
  if (storage.readOnly) return [{ itemId, reason: 'read-only', storageId }];
  if (['available', 'degraded'].includes(storage.state)) return [];
  return [{ itemId, reason: 'storage-unavailable', storageId }];
}

/** Throws 409 `file-deletion-off` and `read-only`, and 423, when files of an item may not move to the trash. */
export async function refuseMoves(db: Db, { id }: { id: string }): Promise<void> {
  const [refused] = await refusedMoves(db, [id]);
  if (!refused) return;
  const { reason, storageId } = refused;
  if (reason === 'file-deletion-off') throw conflict(reason, 'The library does not allow the deletion of files');
  if (reason === 'read-only') throw conflict(reason, 'The storage is read-only', { storageId });
  throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', { storageId });
}

/** Queues the job that moves files into the trash and out of it. */
export async function enqueueMoves(enqueue: Call['enqueue']): Promise<void> {
  await enqueue('library.purge', { files: true }, { key: 'library.purge:files' });
}

/**
 * Has the files of trashed items moved to the trash, or those of the dropped edition of a file. A file that another library
 * shows too stays.
 */
export async function trashFiles(
  db: Db,
  chosen: { itemIds: readonly string[] } | { editionOf: string },
  enqueue: Call['enqueue'],
): Promise<void> {
  const [which, values] =
    'itemIds' in chosen
      ? ['f.item_id = any(?::uuid[]) and not f.ignored', [[...chosen.itemIds]]]
      : [
          `f.ignored and exists (select from media_files c where c.id = ? and c.item_id = f.item_id
             and (c.id = f.id or (c.part is not null and c.edition is not distinct from f.edition)))`,
          [chosen.editionOf],
        ];
  // A copy that went to the trash earlier stays there by itself.
  await db.raw(
    `update trashed_files t set file_id = null from media_files f
     where f.id = t.file_id and t.settled_at is not null and f.missing_since is null and ${which}`,
    values as string[],
  );
  await db.raw(
    `insert into trashed_files (id, file_id, library_id, storage_id, path, size_bytes, modified_ms)
     select gen_random_uuid(), f.id, f.library_id, f.storage_id, f.path, f.size_bytes, f.modified_ms
     from media_files f where ${which} and f.missing_since is null and not exists (
       select from media_files o join items i on i.id = o.item_id
       where o.storage_id = f.storage_id and o.path = f.path and o.id <> f.id and i.trashed_at is null)
     on conflict (file_id) do update set wanted = 'trash', settled_at = null, at = now()`,
    values as string[],
  );
  await enqueueMoves(enqueue);
}

/** Has the files of restored items moved back. Returns how many. */
export async function wantBack(db: Db, itemIds: readonly string[]): Promise<number> {
  const rows = await rowsOf(
    db,
    `update trashed_files t set wanted = 'place', settled_at = null from media_files f
     where f.id = t.file_id and f.item_id = any(?::uuid[]) and not f.ignored
       and (f.missing_since is not null or t.settled_at is null) returning t.id`,
    [[...itemIds]],
  );
  return rows.length;
}

/** Has files deleted whose days in the trash are over, of dropped editions and of items that returned with another file. */
export async function wantOldGone(db: Db, libraryId: string, before: Date): Promise<void> {
  await db.raw(
    `update trashed_files t set wanted = 'none', settled_at = null
     where t.library_id = ? and t.at < ? and t.wanted = 'trash' and not exists (
       select from media_files f join items i on i.id = f.item_id where f.id = t.file_id and not f.ignored and i.trashed_at is not null)`,
    [libraryId, before],
  );
}

/** Entries of which a file cannot go back because another file has its place. */
export async function takenPlaces(
  { db, deps: { config } }: Pick<Call, 'db' | 'deps'>,
  entryIds: readonly string[],
): Promise<Set<string>> {
  const rows = await rowsOf<Pick<TrashedFile, 'storage_id' | 'path'> & { entry_id: string }>(
    db,
    `select e.id as entry_id, t.storage_id, t.path from unnest(?::uuid[]) as e(id)
     join items i on e.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of) join media_files f on f.item_id = i.id
     join trashed_files t on t.file_id = f.id where t.settled_at is not null and f.missing_since is not null`,
    [[...entryIds]],
  );
  const storages = await findStorages(db, [...new Set(rows.map((row) => row.storage_id))]);
  const taken = new Set<string>();
  for (const { entry_id: entry, storage_id: id, path } of rows) {
    const storage = storages.get(id);
    if (storage && (await placeInStorage(config, storage, path)).kind === 'there') taken.add(entry);
  }
  return taken;
}

/** The next file that a job has to move, locked for this transaction; undefined when none is left. */
export async function nextTrashed(db: Db, passed: readonly string[]): Promise<TrashedFile | undefined> {
  return db('trashed_files')
    .whereNull('settled_at')
    .whereNotIn('id', [...passed])
    .orderBy('at')
    .orderBy('id')
    .forUpdate()
    .skipLocked()
    .first();
}

/** Path of a file in the trash folder, inside the storage. */
export function trashPathOf({ id, path }: Pick<TrashedFile, 'id' | 'path'>): string {
  return join('.foyer-trash', id, path.slice(path.lastIndexOf('/') + 1));
}

export const parentOf = (path: string): string => (path.includes('/') ? dirname(path) : '');

/** The file is in the trash: no scan takes it for lost. */
export async function noteInTrash(db: Db, { id, file_id: fileId }: TrashedFile): Promise<void> {
  await db('trashed_files').where({ id }).update({ settled_at: new Date() });
  if (fileId !== null)
    await db('media_files')
      .where({ id: fileId })
      .update({ missing_since: db.raw('coalesce(missing_since, now())'), absent_scan: null, updated_at: new Date() });
}

/** The file is back at its place, or was never moved. */
export async function noteReturned(db: Db, { id, file_id: fileId, library_id: libraryId }: TrashedFile): Promise<void> {
  await forgetTrashed(db, id);
  if (fileId === null) return;
  await nextChanges(db, [libraryId]);
  const file = await db('media_files').where({ id: fileId }).first('item_id');
  if (!file) return;
  const items = await withParents(db, [file.item_id]);
  const before = await measure(db, items);
  await db('media_files')
    .where({ id: fileId })
    .update({ missing_since: null, absent_scan: null, absence_kept: false, updated_at: new Date() });
  await rollUpItems(db, [file.item_id]);
  await addToLibraries(db, before, await measure(db, items));
}

/** The file is neither in the trash nor on the way there. */
export async function forgetTrashed(db: Db, id: string): Promise<void> {
  await db('trashed_files').where({ id }).delete();
}

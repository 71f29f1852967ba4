import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';

/** What the looks of the workers make of a mount. */
export type Seen = 'available' | 'unavailable' | 'suspect';

export interface Mount {
  id: string;
  name: string;
  state: string;
  rootName: string;
  path: string;
}

/** The mounts that nobody switched off. */
export async function listMounts(db: Db): Promise<Mount[]> {
  return db('storages')
    .where({ kind: 'mount', enabled: true })
    .whereNotNull('root_name')
    .select('id', 'name', 'state', 'root_name as rootName', 'path');
}

/** Whether files of it are known: then an empty root is not believed. */
export async function holdsFiles(db: Db, storageId: string): Promise<boolean> {
  const found = await db('media_files').where({ storage_id: storageId }).whereNull('missing_since').first('id');
  return found !== undefined;
}

/** A folder of a library on a mount that is there. */
export interface FolderOnMount {
  id: string;
  libraryId: string;
  away: boolean;
  rootName: string;
  /** Below the media root. */
  storagePath: string;
  /** Inside the storage. */
  path: string;
}

/** Folders of libraries that may be away while their storage is there. One that is the whole storage is as that is. */
export async function listFoldersOnMounts(db: Db): Promise<FolderOnMount[]> {
  return db('library_folders as f')
    .join('storages as s', 's.id', 'f.storage_id')
    .join('libraries as l', 'l.id', 'f.library_id')
    .where({ 's.kind': 'mount', 's.enabled': true, 's.state': 'available', 'l.deleted_at': null })
    .whereNot('f.path', '')
    .whereNotNull('s.root_name')
    .select('f.id', 'f.away', {
      libraryId: 'f.library_id',
      rootName: 's.root_name',
      storagePath: 's.path',
      path: 'f.path',
    });
}

/** Whether files are known in a folder: then an empty one is not believed. */
export async function folderHoldsFiles(db: Db, folderId: string): Promise<boolean> {
  const found = await db('media_files').where({ folder_id: folderId }).whereNull('missing_since').first('id');
  return found !== undefined;
}

const isAway = (state: string): boolean => state === 'unavailable' || state === 'suspect';

/**
 * Writes another state and tells it, once however many workers saw it: the others get undefined. Gives how long the storage was away
 * until now. In the caller's transaction.
 */
export async function changeState(
  db: Db,
  { id, state: from }: Mount,
  { to, reason }: { to: Seen; reason: string | null },
): Promise<{ awayMs: number } | undefined> {
  const before = await db('storages')
    .where({ id, state: from })
    .forUpdate()
    .first<{ state_since: Date; owner_id: string | null } | undefined>('state_since', 'owner_id');
  if (!before) return undefined;
  const now = new Date();
  const back = to === 'available';
  await db('storages')
    .where({ id })
    .update({ state: to, reason, state_since: now, returned_at: back ? now : null, updated_at: now });
  if (isAway(from) !== isAway(to)) {
    const facts = before.owner_id ? { userIds: [before.owner_id] } : {}; // whose own storage it is
    await emit(db, back ? 'system.storage.available' : 'system.storage.unavailable', {
      payload: { storageId: id },
      facts,
    });
  }
  return { awayMs: isAway(from) ? now.getTime() - before.state_since.getTime() : 0 };
}

/** Storages that have been back for so long without a break; each is given once. */
export async function takeReturned(db: Db, quietMs: number): Promise<string[]> {
  const rows = await db('storages')
    .where({ state: 'available' })
    .where('returned_at', '<=', new Date(Date.now() - quietMs))
    .update({ returned_at: null })
    .returning('id');
  return rows.map((row) => row.id);
}

/** Makes a storage of the same id of a media root; a root that is gone leaves its row, since files stand on it. */
export async function putMount(
  db: Db,
  root: Config['mediaRoots'][number],
  managedBy: string | undefined,
): Promise<void> {
  await db('storages')
    .insert({
      id: root.id,
      name: root.name,
      kind: 'mount',
      root_name: root.name,
      read_only: root.readOnly,
      managed_by: managedBy,
    })
    .onConflict('id')
    .merge(['name', 'root_name', 'read_only', 'managed_by']);
}

/** Gives the personal storages of an account to another. */
export async function handOverStorages(db: Db, from: string, to: string): Promise<void> {
  await db('storages').where({ owner_id: from }).update({ owner_id: to });
}

/** Deletes the rows of an account's personal storages. */
export async function deleteStoragesOf(db: Db, accountId: string): Promise<void> {
  await db('storages').where({ owner_id: accountId }).delete();
}

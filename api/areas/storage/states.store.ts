import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';

/** State of a mount as the workers observe it. */
export type Seen = 'available' | 'unavailable' | 'suspect';

export interface Mount {
  id: string;
  name: string;
  state: string;
  rootName: string;
  path: string;
}

/** Enabled mounts. */
export async function listMounts(db: Db): Promise<Mount[]> {
  return db('storages')
    .where({ kind: 'mount', enabled: true })
    .whereNotNull('root_name')
    .select('id', 'name', 'state', 'root_name as rootName', 'path');
}

/** True when the storage has known files; an empty root is then not trusted. */
export async function holdsFiles(db: Db, storageId: string): Promise<boolean> {
  const found = await db('media_files').where({ storage_id: storageId }).whereNull('missing_since').first('id');
  return found !== undefined;
}

/** A library folder on an available mount. */
export interface FolderOnMount {
  id: string;
  libraryId: string;
  unavailable: boolean;
  rootName: string;
  /** Below the media root. */
  storagePath: string;
  /** Inside the storage. */
  path: string;
}

/**
 * Library folders that may be unavailable while their storage is available. A folder that is the whole storage has the
 * state of the storage.
 */
export async function listFoldersOnMounts(db: Db): Promise<FolderOnMount[]> {
  return db('library_folders as f')
    .join('storages as s', 's.id', 'f.storage_id')
    .join('libraries as l', 'l.id', 'f.library_id')
    .where({ 's.kind': 'mount', 's.enabled': true, 's.state': 'available', 'l.deleted_at': null })
    .whereNot('f.path', '')
    .whereNotNull('s.root_name')
    .select('f.id', {
      unavailable: 'f.away',
      libraryId: 'f.library_id',
      rootName: 's.root_name',
      storagePath: 's.path',
      path: 'f.path',
    });
}

/** True when the folder has known files; an empty folder is then not trusted. */
export async function folderHoldsFiles(db: Db, folderId: string): Promise<boolean> {
  const found = await db('media_files').where({ folder_id: folderId }).whereNull('missing_since').first('id');
  return found !== undefined;
}

const isUnavailable = (state: string): boolean => state === 'unavailable' || state === 'suspect';

/**
 * Writes a new state and emits its event in the caller's transaction. When several workers observe the change, only the
 * first gets a result; it has the time for which the storage was unavailable.
 */
export async function changeState(
  db: Db,
  { id, state: from }: Mount,
  { to, reason }: { to: Seen; reason: string | null },
): Promise<{ unavailableMs: number } | undefined> {
  const before = await db('storages').where({ id, state: from }).forUpdate().first('state_since', 'owner_id');
  if (!before) return undefined;
  const now = new Date();
  const back = to === 'available';
  await db('storages')
    .where({ id })
    .update({ state: to, reason, state_since: now, returned_at: back ? now : null, updated_at: now });
  if (isUnavailable(from) !== isUnavailable(to)) {
    const facts = before.owner_id ? { userIds: [before.owner_id] } : {}; // the owner of the storage
    await emit(db, back ? 'system.storage.available' : 'system.storage.unavailable', {
      payload: { storageId: id },
      facts,
    });
  }
  return { unavailableMs: isUnavailable(from) ? now.getTime() - before.state_since.getTime() : 0 };
}

/** Storages that have been available without interruption for `quietMs`; each is returned once. */
export async function takeReturned(db: Db, quietMs: number): Promise<string[]> {
  const rows = await db('storages')
    .where({ state: 'available' })
    .where('returned_at', '<=', new Date(Date.now() - quietMs))
    .update({ returned_at: null })
    .returning('id');
  return rows.map((row) => row.id);
}

/** Creates or updates the storage of a media root. The row of a removed root stays, because files refer to it. */
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

/** Moves the personal storages of an account to another account. */
export async function handOverStorages(db: Db, from: string, to: string): Promise<void> {
  await db('storages').where({ owner_id: from }).update({ owner_id: to });
}

/** Deletes the personal storages of an account. */
export async function deleteStoragesOf(db: Db, accountId: string): Promise<void> {
  await db('storages').where({ owner_id: accountId }).delete();
}

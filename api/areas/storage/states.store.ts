import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';
import { listStorageRows, type StorageRow } from './storages.store.ts';

/** State of a storage as the processes observe it. */
export type Seen = 'available' | 'degraded' | 'unavailable' | 'suspect';

/** Enabled storages that every worker sees for itself, or those that one worker checks for all. */
export async function listWatched(db: Db, which: 'mounts' | 'remote'): Promise<StorageRow[]> {
  const rows = await listStorageRows(db);
  return rows.filter(
    ({ kind, enabled, state, root_name: root }) =>
      enabled &&
      state !== 'connecting' &&
      (kind === 'mount') === (which === 'mounts') &&
      (kind !== 'mount' || root !== null),
  );
}

/** True when the storage has known files; an empty root is then not trusted. */
export async function holdsFiles(db: Db, storageId: string): Promise<boolean> {
  const found = await db('media_files').where({ storage_id: storageId }).whereNull('missing_since').first('id');
  return found !== undefined;
}

/** True when a library, also a deleted one that is not purged yet, has folders or files on the storage. */
export async function holdsRows(db: Db, storageId: string): Promise<boolean> {
  const folder = await db('library_folders').where({ storage_id: storageId }).first('id');
  const file = folder ?? (await db('media_files').where({ storage_id: storageId }).first('id'));
  return file !== undefined;
}

/** Random files that the server knows on a storage, with their sizes. */
export async function listSample(db: Db, storageId: string, most: number): Promise<[path: string, size: number][]> {
  const rows = await db('media_files')
    .where({ storage_id: storageId, ignored: false })
    .whereNull('missing_since')
    .orderByRaw('random()')
    .limit(most)
    .select('path', 'size_bytes');
  return rows.map((row) => [row.path, Number(row.size_bytes)]);
}

/** A known file with the hash of its sampled blocks, if it was read. */
export interface Known {
  path: string;
  size: number;
  hash: Buffer | null;
}

/** Random files that the server knows on a storage, to compare with those at another place. */
export async function listKnown(db: Db, storageId: string, most: number): Promise<Known[]> {
  const rows = await db('media_files')
    .where({ storage_id: storageId, ignored: false })
    .whereNull('missing_since')
    .orderByRaw('random()')
    .limit(most)
    .select('path', 'size_bytes', 'sampled_hash');
  return rows.map((row) => ({ path: row.path, size: Number(row.size_bytes), hash: row.sampled_hash }));
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
    .where({ 's.kind': 'mount', 's.enabled': true, 'l.deleted_at': null })
    .whereIn('s.state', ['available', 'degraded'])
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

const FLAPPING = 5;
const FLAPPING_MS = 10 * 60_000;

export interface Changed {
  /** The state that was written. */
  to: Seen;
  /** How long the storage was unavailable. */
  unavailableMs: number;
  /** It comes and goes: it is held at degraded from now on. */
  held: boolean;
}

/**
 * Writes a new state and emits its event in the caller's transaction. When several workers observe the change, only the
 * first gets a result. A storage that changed more than 5 times in 10 minutes is held at degraded until it rests.
 */
export async function changeState(
  db: Db,
  { id, state: from }: Pick<StorageRow, 'id' | 'state'>,
  { to: wanted, reason }: { to: Seen; reason: string | null },
): Promise<Changed | undefined> {
  const before = await db('storages')
    .where({ id, state: from })
    .forUpdate()
    .first('state_since', 'owner_id', 'changes');
  if (!before) return undefined;
  const now = new Date();
  const recent = before.changes.filter((at) => now.getTime() - at.getTime() < FLAPPING_MS);
  const held = recent.length >= FLAPPING;
  const to = held ? 'degraded' : wanted;
  if (to === from) return undefined;
  const back = isUnavailable(from) && !isUnavailable(to);
  await db('storages')
    .where({ id })
    .update({
      ...{ state: to, reason: to === 'available' ? null : reason, state_since: now, updated_at: now },
      changes: db.raw('?::timestamptz[]', [[...recent, now]]),
      ...(back && { returned_at: now }),
      ...(isUnavailable(to) && { returned_at: null }),
    });
  if (isUnavailable(from) !== isUnavailable(to)) await emitState(db, { id, back, owner: before.owner_id });
  return { to, held, unavailableMs: isUnavailable(from) ? now.getTime() - before.state_since.getTime() : 0 };
}

/** Another reason for the state that a storage has: a bucket that was unreachable refuses its keys now. */
export async function noteReason(db: Db, { id, state, reason }: StorageRow, now: string | null): Promise<void> {
  if (reason !== now) await db('storages').where({ id, state }).update({ reason: now });
}

export const isUnavailable = (state: string): boolean => ['unavailable', 'suspect', 'disabled'].includes(state);

interface Emitted {
  id: string;
  back: boolean;
  owner: string | null;
}

/** The owner of a drive hears of it too. */
export async function emitState(db: Db, { id, back, owner }: Emitted): Promise<void> {
  await emit(db, back ? 'system.storage.available' : 'system.storage.unavailable', {
    payload: { storageId: id },
    facts: owner ? { userIds: [owner] } : {},
  });
}

/** Storages that have been available without interruption for `quietMs`; each is returned once. */
export async function takeReturned(db: Db, quietMs: number): Promise<string[]> {
  const rows = await db('storages')
    .whereIn('state', ['available', 'degraded'])
    .where('returned_at', '<=', new Date(Date.now() - quietMs))
    .update({ returned_at: null })
    .returning('id');
  return rows.map((row) => row.id);
}

/**
 * Creates or updates the storage of a media root. A root on which an admin created other storages gets none. The row of
 * a removed root stays, because files refer to it.
 */
export async function putMount(
  db: Db,
  root: Config['mediaRoots'][number],
  managedBy: string | undefined,
): Promise<void> {
  const others = await db('storages').where({ root_name: root.name }).whereNot({ id: root.id }).first('id');
  const own = await db('storages').where({ id: root.id }).first('id');
  if (!own && others) return;
  await db('storages')
    .insert({
      id: root.id,
      name: root.name,
      kind: 'mount',
      root_name: root.name,
      read_only: root.readOnly,
      managed_by: managedBy,
      managed_fields: managedBy === undefined ? [] : [...MANAGED],
    })
    .onConflict('id')
    .merge(managedBy === undefined ? ['root_name'] : ['root_name', 'read_only', 'managed_by', 'managed_fields']);
}

/** Fields of a storage that its resource owns; name and enabled stay free. */
export const MANAGED = ['kind', 'settings', 'secrets', 'readOnly'] as const;

/** Moves the personal storages of an account to another account. */
export async function handOverStorages(db: Db, from: string, to: string): Promise<void> {
  await db('storages').where({ owner_id: from }).update({ owner_id: to });
}

/** Deletes the personal storages of an account. */
export async function deleteStoragesOf(db: Db, accountId: string): Promise<void> {
  await db('storages').where({ owner_id: accountId }).delete();
}

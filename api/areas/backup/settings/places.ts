import { join } from 'node:path';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { conflict } from '#kernel/errors.ts';
import { type Destination, DestinationUnavailable } from '#platform/backup/destination.ts';
import { folderDestination } from '#platform/backup/folder-destination.ts';
import { objectsDestination } from '#platform/backup/objects-destination.ts';
import { s3Destination } from '#platform/backup/s3-destination.ts';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { isBelow } from '#platform/is-below.ts';
import type { Keys } from '#platform/keys.ts';
import type { Objects } from '#platform/objects.ts';
import { createAddressCheck, OutboundRefused } from '#platform/outbound.ts';
import { type FolderPlace, folderOf, notePlace, type PlaceRow, s3Of, secretOf } from './places.store.ts';

export interface PlaceDeps {
  config: Config;
  db: Db;
  objects: Objects;
  keys: Keys;
}

const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/**
 * Opens a place. Throws `DestinationUnavailable` for an unavailable storage, an unreachable address, or a secret that
 * no key opens.
 */
export async function openPlace(deps: PlaceDeps, row: PlaceRow): Promise<Destination> {
  if (row.kind === 'builtin') return objectsDestination(deps.objects);
  if (row.kind === 'storage') return folderDestination(await folderIn(deps, folderOf(row)));
  const secret = secretOf(deps.keys, row);
  if (secret === undefined)
    throw new DestinationUnavailable('unreachable', 'The secret cannot be opened: enter it again');
  const { config } = deps;
  return s3Destination({
    place: s3Of(row),
    secret,
    always: row.declared ? EVERYWHERE : config.backupNetworks,
    deny: config.apiServerNetworks,
  });
}

async function folderIn({ db, config }: PlaceDeps, { storageId, path }: FolderPlace): Promise<string> {
  const storage = (await findStorages(db, [storageId])).get(storageId);
  if (storage?.state !== 'available') throw new DestinationUnavailable('unreachable', 'The storage is not available');
  const found = await placeInStorage(config, storage, path);
  if (found.kind !== 'there') throw new DestinationUnavailable('unreachable', 'The folder does not exist');
  return found.absolute;
}

/**
 * Throws 409 `folder-overlap` for a folder in or around a library's, `check-failed` for a storage that is missing or read-only.
 */
export async function refuseFolder({ db, config }: PlaceDeps, { storageId, path }: FolderPlace): Promise<void> {
  const absolute = async (id: string, below: string): Promise<string | undefined> => {
    const storage = (await findStorages(db, [id])).get(id);
    const root = config.mediaRoots.find(({ name }) => name === storage?.rootName);
    return root && storage && join(root.path, storage.path, below);
  };
  const storage = (await findStorages(db, [storageId])).get(storageId);
  const wanted = await absolute(storageId, path);
  if (!storage || !wanted) throw conflict('check-failed', 'The storage does not exist', { step: 'resolve' });
  if (storage.readOnly) throw conflict('check-failed', 'The storage is read-only', { step: 'write' });
  const folders = await db('library_folders').select('storage_id', 'path');
  for (const folder of folders) {
    const taken = await absolute(folder.storage_id, folder.path);
    if (taken && (isBelow(taken, wanted) || isBelow(wanted, taken)))
      throw conflict('folder-overlap', 'Backups lie outside every library folder', { folders: [folder.path] });
  }
}

/** Whether it is an s3 address in a public network; a name that does not resolve counts as one. */
export async function isOutside({ kind, place }: Pick<PlaceRow, 'kind' | 'place'>): Promise<boolean> {
  if (kind !== 's3') return false;
  return createAddressCheck()(place.endpoint ?? '').then(
    () => true,
    (error: unknown) => !(error instanceof OutboundRefused),
  );
}

const LIMIT_MS = 10_000;

/** The result of `work`; throws `DestinationUnavailable` after ten seconds. */
export async function within<T>(work: Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DestinationUnavailable('unreachable', 'It did not answer in time')),
    limitMs,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Free bytes if known; records the result with the place. Throws `DestinationUnavailable`. */
export async function lookAt(deps: PlaceDeps, row: PlaceRow): Promise<number | undefined> {
  try {
    const free = await within(
      openPlace(deps, row).then(async (destination) => {
        await destination.size('backups/.look');
        return destination.free();
      }),
    );
    await notePlace(deps.db, row.id, { state: 'ok', state_reason: null, free_bytes: free ?? null });
    return free;
  } catch (error) {
    if (error instanceof DestinationUnavailable) await recordUnavailable(deps.db, row.id, error);
    throw error;
  }
}

export async function recordUnavailable(db: Db, id: string, { state, message }: DestinationUnavailable): Promise<void> {
  await notePlace(db, id, { state, state_reason: message.slice(0, 300) });
}

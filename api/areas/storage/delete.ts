import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { MARKER, readMarker } from './checks/identity.ts';
import { readerOfStorage } from './registry.ts';
import { getStorageRow, refuseManaged } from './saved.ts';
import { holdsRows } from './states.store.ts';
import { deleteStorageRow, librariesOn, lockStorages, type StorageRow } from './storages.store.ts';

type RemoveFolders = (db: Db, storageId: string) => Promise<void>;

let removeFolders: RemoveFolders = async () => undefined;

/** How Libraries removes the folders on a deleted drive, which this area must not import. */
export function removeFoldersBy(remove: RemoveFolders): void {
  removeFolders = remove;
}

/** Deletes a storage and never a file. Throws 409 while libraries have folders on it; the items of a drive go to the trash. */
export async function removeStorage(call: Call, id: string): Promise<void> {
  const row = await getStorageRow(call, id);
  refuseManaged(call, row, ['storage']);
  await call.transact(async (inside) => {
    await lockStorages(inside.db);
    if (row.owner_id === null) await refuseUsed(inside.db, id);
    else await removeFolders(inside.db, id);
    await deleteStorageRow(inside.db, id);
    await audit(inside, 'storage.deleted', { storageId: id, name: row.name });
    inside.afterCommit(() => removeMarker(call, row));
  });
}

async function refuseUsed(db: Db, id: string): Promise<void> {
  if (!(await holdsRows(db, id))) return;
  const libraries = (await librariesOn(db, [id])).map(({ id: libraryId, name }) => ({ id: libraryId, name }));
  throw conflict('in-use', 'Libraries have folders on it', { libraries });
}

/** Only its own marker; a storage that does not answer keeps it. */
async function removeMarker({ deps }: Call, row: StorageRow): Promise<void> {
  if (row.read_only || row.marked_at === null) return;
  const reader = await readerOfStorage(deps.config, row);
  const marker = await readMarker(reader);
  if (marker !== undefined && marker !== 'invalid' && marker.storage === row.id) await reader.remove(MARKER);
}

import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { readMarker, writeMarker } from './checks/identity.ts';
import type { Secrets, Settings } from './kinds/kinds.ts';
import { parsedSettings, refuseNew, refusePlace, requireSecrets } from './places.ts';
import { openReader } from './readers/open.ts';
import { StorageFault, type StorageReader } from './readers/reader.ts';
import { requireWorking } from './saved.ts';
import { MANAGED } from './states.store.ts';
import type { StorageDraft } from './storages.schemas.ts';
import { insertStorageRow, listStorageRows, lockStorages, type StorageRow, sealSecrets } from './storages.store.ts';

/** Creates a storage. Throws 400 and 409 as createStorage describes; with `repeated` the resource made it already. */
export async function createStorageOf(
  call: Call,
  draft: StorageDraft,
): Promise<{ row: StorageRow; repeated: boolean }> {
  refuseForeignManager(call, draft);
  const settings = parsedSettings(draft.kind, draft.settings);
  const secrets = draft.secrets ?? {};
  requireSecrets(draft.kind, secrets);
  const made = await findManaged(call, draft);
  if (made) return { row: made, repeated: true };
  await refusePlace(call, { kind: draft.kind, settings });
  const newcomer = { name: draft.name, kind: draft.kind, settings, ownerId: null };
  await refuseNew(call.db, newcomer); // before anything is written to the place; compared again under the lock
  const place = { ...newcomer, secrets, readOnly: draft.readOnly, write: !draft.readOnly };
  if (draft.check) await requireWorking(call, place);
  const id = newId();
  const marker = draft.readOnly ? undefined : await mark(call, { id, draft, settings, secrets });
  try {
    await call.transact(async (inside) => {
      await lockStorages(inside.db);
      await refuseNew(inside.db, newcomer);
      await insertStorageRow(inside.db, rowOf(call, { id, draft, settings, secrets, marked: marker !== undefined }));
      await audit(inside, 'storage.created', { storageId: id, name: draft.name, kind: draft.kind });
    });
  } catch (error) {
    await marker?.undo();
    throw error;
  } finally {
    await marker?.reader.close();
  }
  const [row] = (await listStorageRows(call.db)).filter((one) => one.id === id);
  if (!row) throw new Error('the storage that was just created is gone');
  return { row, repeated: false };
}

/** Only the operator's key may say which resource owns it. */
function refuseForeignManager({ who }: Call, { managedBy }: StorageDraft): void {
  if (managedBy !== undefined && !who.operator)
    throw new ApiError('FORBIDDEN', 'Only the operator may set managedBy', { by: 'operator' });
}

async function findManaged({ db }: Call, { managedBy, name, kind }: StorageDraft): Promise<StorageRow | undefined> {
  if (!managedBy) return undefined;
  const rows = await listStorageRows(db);
  return rows.find((row) => row.managed_by?.uid === managedBy.uid && row.name === name && row.kind === kind);
}

interface Making {
  id: string;
  draft: StorageDraft;
  settings: Settings;
  secrets: Secrets;
}

function rowOf({ deps }: Call, { id, draft, settings, secrets, marked }: Making & { marked: boolean }) {
  const now = new Date();
  return {
    ...{ id, name: draft.name, kind: draft.kind, settings, read_only: draft.readOnly },
    secrets: sealSecrets(deps.keys, id, secrets),
    ...(draft.managedBy && { managed_by: draft.managedBy, managed_fields: [...MANAGED] }),
    ...(draft.check && { last_check_at: now, last_available_at: now }),
    ...(marked && { marked_at: now }),
  };
}

interface Marked {
  reader: StorageReader;
  undo: () => Promise<void>;
}

/** Marks a writable storage. Throws 409 `marked-by-another` unless it is taken over. */
async function mark({ deps }: Call, { id, draft, settings, secrets }: Making): Promise<Marked | undefined> {
  const { serverId } = deps.keys;
  const reader = openReader(deps, { kind: draft.kind, settings, secrets });
  try {
    const found = await readMarker(reader);
    const foreign = found === 'invalid' || (found !== undefined && found.server !== serverId);
    if (foreign && !draft.takeOver) throw conflict('marked-by-another', 'Another server uses this storage');
    await writeMarker(reader, { server: serverId, storage: id, epoch: 1 });
    return { reader, undo: () => reader.remove('.foyer-storage').catch(() => undefined) };
  } catch (error) {
    await reader.close();
    if (!(error instanceof StorageFault)) throw error;
    if (!draft.check) return undefined; // a worker marks it once it can be written
    throw conflict('check-failed', error.message, { check: { ok: false, reason: error.reason } });
  }
}

import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { holdClocksOf } from '../clocks.ts';
import { StorageFault } from '../readers/reader.ts';
import { readerOfStorage } from '../registry.ts';
import { getStorageRow, unavailableError } from '../saved.ts';
import { changeState } from '../states.store.ts';
import type { StorageReason } from '../storages.schemas.ts';
import { findStorageRow, type StorageRow, updateStorageRow } from '../storages.store.ts';
import { type Identity, writeMarker } from './identity.ts';
import { observeStorage } from './observe.ts';

interface Accepting {
  accept: StorageReason;
  expectItemsMissing: boolean;
}

/** A suspect storage is the right one from now on: it gets a new epoch. Throws 409 unless it is suspect for this reason now. */
export async function acceptIdentity(
  call: Call,
  id: string,
  { accept, expectItemsMissing }: Accepting,
): Promise<StorageRow> {
  const row = await getStorageRow(call, id);
  if (row.state !== 'suspect') throw conflict('not-suspect', 'The storage is not suspect');
  if (accept === 'root-empty' && !expectItemsMissing)
    throw invalid(['body', 'expectItemsMissing'], 'required', 'an empty root needs expectItemsMissing');
  const { state, reason } = await observeStorage(call.deps, row);
  if (state === 'unavailable') throw unavailableError(call, row.id, reason ?? 'unavailable');
  if (reason !== accept) throw conflict('reason-changed', 'The reason is another one now', { now: reason ?? null });
  const epoch = Number(row.epoch) + 1;
  if (!row.read_only) await markAgain(call, row, epoch);
  await call.transact(async (inside) => {
    const identity: Identity = accept === 'root-empty' ? { emptyEpoch: epoch } : {};
    await updateStorageRow(inside.db, id, { epoch, identity, marked_at: row.read_only ? null : new Date() });
    await changeState(inside.db, row, { to: 'available', reason: null });
    await holdClocksOf(inside.db, row);
    await audit(inside, 'storage.accepted', { storageId: id, name: row.name, reason: accept });
  });
  const after = await findStorageRow(call.db, id);
  return after ?? row;
}

async function markAgain({ deps, who }: Call, row: StorageRow, epoch: number): Promise<void> {
  const reader = await readerOfStorage(deps.config, row);
  await writeMarker(reader, { server: deps.keys.serverId, storage: row.id, epoch }).catch((error: unknown) => {
    throw error instanceof StorageFault ? unavailableError({ who }, row.id, error.reason) : error;
  });
}

import { requireAllowed } from '#identity/restrictions.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { newId } from '#platform/ids.ts';
import { type KindId, kindIds, kinds } from '../kinds/kinds.ts';
import { parsedSettings, refuseNew, refusePlace, requireSecrets } from '../places.ts';
import { personalReach } from '../registry.ts';
import { requireWorking } from '../saved.ts';
import type { DriveDraft } from '../storages.schemas.ts';
import { findStorageRow, insertStorageRow, lockStorages, type StorageRow, sealSecrets } from '../storages.store.ts';

/** Throws 403 while drives are switched off, or for an account that may not connect any. */
export function requireDrives({ deps, who }: Pick<Call, 'deps' | 'who'>): void {
  requireAllowed(who, 'personalStorage');
  if (deps.settings.get('storages.personal')) return;
  throw new ApiError('FORBIDDEN', 'Drives of members are switched off', { setting: 'storages.personal' });
}

function personalKind(id: string): KindId {
  const kind = kindIds.find((one) => one === id);
  if (kind && kinds[kind].personal) return kind;
  throw invalid(['body', 'kind'], 'unknown_kind', 'this is no kind that a member may connect');
}

/** Each holds a connection to Postgres while the server of the drive answers. */
const CONNECTS_A_MINUTE = 3;

/** Connects a drive of the caller, which is read-only. Throws 400, 403 and 409 as connectDrive describes. */
export async function connect(call: Call, draft: DriveDraft): Promise<StorageRow> {
  requireDrives(call);
  const { redis, config } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `drives:${call.who.accountId}`, CONNECTS_A_MINUTE);
  const kind = personalKind(draft.kind);
  const ownerId = call.who.accountId;
  const settings = parsedSettings(kind, draft.settings ?? {});
  const secrets = draft.secrets ?? {};
  requireSecrets(kind, secrets);
  await refusePlace(call, { kind, settings, personal: personalReach(ownerId) });
  const newcomer = { name: draft.name, kind, settings, ownerId };
  await refuseNew(call.db, newcomer);
  await requireWorking(call, { ...newcomer, secrets, readOnly: true, write: false });
  const id = newId();
  return call.transact(async (inside) => {
    await lockStorages(inside.db);
    await refuseNew(inside.db, newcomer);
    const now = new Date();
    await insertStorageRow(inside.db, {
      ...{ id, name: draft.name, kind, settings, owner_id: ownerId, read_only: true },
      ...{ secrets: sealSecrets(call.deps.keys, id, secrets), last_check_at: now, last_available_at: now },
    });
    await audit(inside, 'storage.connected', { storageId: id, name: draft.name, kind });
    return (await findStorageRow(inside.db, id)) as StorageRow;
  });
}

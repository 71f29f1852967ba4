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

/** The server sends requests to an address that the caller chose. */
const CONNECTS_A_MINUTE = 3;

function driveOf({ who }: Pick<Call, 'who'>, draft: DriveDraft) {
  const kind = personalKind(draft.kind);
  const settings = parsedSettings(kind, draft.settings ?? {});
  const secrets = draft.secrets ?? {};
  requireSecrets(kind, secrets);
  return { newcomer: { name: draft.name, kind, settings, ownerId: who.accountId }, secrets };
}

/** Admits a request that connects to an address that a member chose. Throws 403 and 429. */
export async function admitDrive(call: Call): Promise<void> {
  requireDrives(call);
  const { redis, config } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `drives:${call.who.accountId}`, CONNECTS_A_MINUTE);
}

/** Tries a drive before it is connected. Throws 400, 403 and 409 as connectDrive describes. */
export async function tryDrive(call: Call, draft: DriveDraft): Promise<void> {
  await admitDrive(call);
  const { newcomer, secrets } = driveOf(call, draft);
  await refusePlace(call, { ...newcomer, personal: personalReach(newcomer.ownerId) });
  await refuseNew(call.db, newcomer);
  await requireWorking(call, { ...newcomer, secrets, readOnly: true, write: false });
}

/** Connects a drive of the caller, which is read-only. Throws 409 for a name, a place or a number that is taken. */
export async function connect(call: Call, draft: DriveDraft): Promise<StorageRow> {
  const { db, deps } = call;
  const { newcomer, secrets } = driveOf(call, draft);
  const { name, kind, settings, ownerId } = newcomer;
  const id = newId();
  await lockStorages(db);
  await refuseNew(db, newcomer);
  const now = new Date();
  await insertStorageRow(db, {
    ...{ id, name, kind, settings, owner_id: ownerId, read_only: true },
    ...{ secrets: sealSecrets(deps.keys, id, secrets), last_check_at: now, last_available_at: now },
  });
  await audit(call, 'storage.connected', { storageId: id, name, kind });
  return (await findStorageRow(db, id)) as StorageRow;
}

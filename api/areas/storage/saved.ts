import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { type Checked, checkPlace, describeCheck } from './checks/check.ts';
import type { Expected } from './checks/identity.ts';
import { type KindId, kindOf, type Secrets, type Settings } from './kinds/kinds.ts';
import { openReader } from './readers/open.ts';
import type { StorageReader } from './readers/reader.ts';
import { personalReach } from './registry.ts';
import type { StorageCheck } from './storages.schemas.ts';
import { findStorageRow, type StorageRow } from './storages.store.ts';
import { isTheirs } from './storages.view.ts';

/** Throws 403 for a caller who may neither manage storages nor connect drives. */
export function requireStorageUser({ who }: Pick<Call, 'who'>): void {
  if (may(who, 'library:manage') || may(who, 'photo:upload')) return;
  const details = who.scopes
    ? { permission: 'library:manage' as const, scopes: ['library:manage' as const] }
    : { permission: 'library:manage' as const };
  throw new ApiError('FORBIDDEN', 'This needs the permission library:manage', details);
}

/** A storage that the caller may see and change. Throws 403, and 404 for those of others. */
export async function getStorageRow(call: Pick<Call, 'db' | 'who'>, id: string): Promise<StorageRow> {
  requireStorageUser(call);
  const row = await findStorageRow(call.db, id);
  if (!row || !isTheirs(call.who, row)) throw notFound();
  return row;
}

/** Throws 409 for a change of a field that a resource owns. */
export function refuseManaged({ who }: Pick<Call, 'who'>, row: StorageRow, fields: readonly string[]): void {
  if (!row.managed_by || who.operator) return;
  const owned = fields.filter((field) => field === 'storage' || row.managed_fields.includes(field));
  if (owned.length === 0) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', {
    fields: owned,
    managedBy: row.managed_by,
  });
}

/** Throws 423 while the storage cannot be read. */
export function requireAvailable({ who }: Pick<Call, 'who'>, row: StorageRow): void {
  const state = row.enabled ? row.state : 'disabled';
  if (['available', 'degraded', 'suspect'].includes(state)) return;
  throw unavailableError({ who }, row.id, row.reason ?? state);
}

export function unavailableError({ who }: Pick<Call, 'who'>, storageId: string, reason: string): ApiError {
  const details = may(who, 'library:manage') ? { storageId, reason } : {};
  return new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', details);
}

export interface Unsaved {
  kind: KindId;
  settings: Settings;
  secrets: Secrets;
  readOnly: boolean;
  ownerId: string | null;
  /** Makes and deletes a file of one byte. */
  write: boolean;
  expected?: Expected;
}

/** Checks settings that are not saved, with a reader of their own. */
export async function tryPlace({ deps: { config } }: Pick<Call, 'deps'>, unsaved: Unsaved): Promise<Checked> {
  let reader: StorageReader | undefined;
  try {
    return await checkPlace(
      () => {
        reader = openReader({ config }, { ...unsaved, personal: personalReach(unsaved.ownerId) });
        return reader;
      },
      { readOnly: unsaved.readOnly, expected: unsaved.expected, write: unsaved.write },
    );
  } finally {
    await reader?.close();
  }
}

/** As the API answers a check of unsaved settings. */
export const describeTry = (checked: Checked, kind: KindId): StorageCheck =>
  describeCheck(checked, checked.ok ? { capabilities: kindOf(kind).capabilities } : {});

/** Throws 409 `check-failed` when the place cannot be used. */
export async function requireWorking(call: Pick<Call, 'deps'>, unsaved: Unsaved): Promise<void> {
  const checked = await tryPlace(call, unsaved);
  if (checked.ok) return;
  throw conflict('check-failed', checked.message ?? 'The test failed', { check: describeTry(checked, unsaved.kind) });
}

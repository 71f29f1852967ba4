import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { requirePlus } from '#identity/plus.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { deriveKey, KDF } from '#platform/backup/sealing.ts';
import type { Keys } from '#platform/keys.ts';
import type { BackupSettingsChange, PlaceDraft } from '../backups.schemas.ts';
import { draftedPlace, type FolderPlace, findPlace, isSamePlace, type PlaceRow, putPlace } from './places.store.ts';
import { openPlace, refuseFolder, within } from './places.ts';
import {
  lockBackupSettings,
  passphraseOf,
  type SettingsColumns,
  type SettingsRow,
  sealPassphrase,
  updateSettings,
} from './settings.store.ts';
import { etagOf } from './settings.view.ts';

/** Applies the whole change or nothing. */
export async function changeBackupSettings(call: Call, change: BackupSettingsChange): Promise<void> {
  const { db, deps } = call;
  const fields = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  requireOwner(call, fields);
  const row = await lockBackupSettings(db);
  refuseStale(call, row);
  refuseManaged(call, row, fields);
  const columns: SettingsColumns = {
    ...plainColumns(row, change),
    ...(await placeColumns(call, row, change)),
    ...(change.encryption && (await encryptionColumns(deps.keys, row, change.encryption))),
  };
  if (Object.keys(columns).length === 0) return;
  await updateSettings(db, { ...columns, revision: row.revision + 1 });
  await audit(call, 'backup-settings.changed', withoutSecrets(change));
  await call.emit('settings.changed', { keys: fields.map((field) => `backup.${field}`) });
}

const OWNERS = ['destination', 'copyTo', 'encryption'];

/** Only the owner may change destinations and encryption. */
function requireOwner({ who }: Call, fields: readonly string[]): void {
  if (who.role === 'owner' && who.kind === 'session') return;
  if (fields.some((field) => OWNERS.includes(field)))
    throw new ApiError('FORBIDDEN', 'Only the owner may change this', { by: 'owner' });
}

function refuseStale({ headers }: Call, row: SettingsRow): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || wanted === etagOf(row)) return;
  throw conflict('revision', 'It was changed meanwhile', { revision: row.revision });
}

function refuseManaged({ deps: { config } }: Call, row: SettingsRow, fields: readonly string[]): void {
  const owned = fields.filter((field) => row.managed_fields.includes(field));
  if (owned.length === 0) return;
  const details = { fields: owned, ...(config.managedBy && { managedBy: config.managedBy }) };
  throw conflict('managed-by-resource', 'A Kubernetes resource declares this', details);
}

function plainColumns(row: SettingsRow, change: BackupSettingsChange): SettingsColumns {
  const { enabled, cron, verifyCron, beforeUpgrade, objects, maxBytesPerSecond, keep } = change;
  const restarts = (enabled === true && !row.enabled) || cron !== undefined;
  const columns = {
    enabled,
    cron,
    verify_cron: verifyCron,
    before_upgrade: beforeUpgrade,
    objects,
    max_bytes_per_second: maxBytesPerSecond,
    keep: keep && JSON.stringify({ ...row.keep, ...keep }),
    scheduled_at: restarts ? new Date() : undefined, // earlier missed runs are not made up for
    enabled_at: enabled === true && !row.enabled ? new Date() : undefined,
    verified_at: verifyCron === undefined ? undefined : new Date(),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

async function placeColumns(call: Call, row: SettingsRow, change: BackupSettingsChange): Promise<SettingsColumns> {
  const { destination, copyTo } = change;
  if ([destination, copyTo].some((place) => place?.kind === 's3')) await requirePlus(call.deps, 'remote-backup');
  return {
    ...(destination && { place_id: await tried(call, { draft: destination, now: row.place_id, name: 'destination' }) }),
    ...(copyTo && { copy_id: await tried(call, { draft: copyTo, now: row.copy_id, name: 'copyTo' }) }),
    ...(copyTo === null && { copy_id: null }),
  };
}

interface Wanted {
  draft: PlaceDraft;
  /** Id of the place in use. */
  now: string | null;
  name: 'destination' | 'copyTo';
}

/** The id of the place, after writing, reading and deleting an object there. */
async function tried(call: Call, { draft, now, name }: Wanted): Promise<string> {
  const { db, deps } = call;
  const known = now === null ? undefined : await findPlace(db, now);
  const same = known !== undefined && isSamePlace(known, draft);
  if (draft.kind === 's3' && draft.secretAccessKey === undefined && !same)
    throw invalid(['body', name, 'secretAccessKey'], 'required', 'a new place needs the secret');
  const drafted = draftedPlace(deps.keys, draft);
  const row = same && draft.secretAccessKey === undefined ? known : drafted;
  if (draft.storage) await prepareFolder(call, draft.storage);
  await tryPlace(call, row);
  return putPlace(db, deps.keys, { drafted: draft, declared: false });
}

async function prepareFolder(call: Call, folder: FolderPlace): Promise<void> {
  const deps = { ...call.deps, db: call.db };
  await refuseFolder(deps, folder);
  const storage = (await findStorages(call.db, [folder.storageId])).get(folder.storageId);
  const top = storage && (await placeInStorage(call.deps.config, storage, ''));
  if (top?.kind !== 'there') throw conflict('check-failed', 'The storage is not there', { step: 'resolve' });
  const made = await mkdir(`${top.absolute}/${folder.path}`, { recursive: true }).then(
    () => true,
    () => false,
  );
  if (!made) throw conflict('check-failed', 'The folder cannot be made', { step: 'write' });
}

/** Throws 409 `check-failed` with the step: connect, write, read or delete. */
async function tryPlace(call: Call, row: PlaceRow): Promise<void> {
  const name = `backups/.check-${randomUUID()}`;
  let step = 'connect';
  const work = async (): Promise<void> => {
    const destination = await openPlace({ ...call.deps, db: call.db }, row);
    step = 'write';
    await destination.write(name, Buffer.from(name));
    step = 'read';
    if ((await buffer(await destination.read(name))).toString() !== name)
      throw new Error('it gave back something else');
    step = 'delete';
    await destination.remove(name);
  };
  try {
    await within(work());
  } catch (error) {
    const state = error instanceof DestinationUnavailable ? error.state : 'unreachable';
    call.log.info({ err: error, step }, 'destination of backups refused');
    throw conflict('check-failed', refusal(call, row, state), { step, state });
  }
}

/** Salt and key are created once for a passphrase, so that backups under it share their sealed objects. */
export async function encryptionColumns(
  keys: Keys,
  row: SettingsRow,
  { mode, passphrase }: NonNullable<BackupSettingsChange['encryption']>,
): Promise<SettingsColumns> {
  if (mode === 'none') return { passphrase: null, salt: null, fingerprint: null };
  if (passphrase === undefined) {
    if (row.passphrase !== null) return {};
    throw invalid(['body', 'encryption', 'passphrase'], 'required', 'a passphrase of 12 to 200 characters');
  }
  if (passphrase === passphraseOf(keys, row)) return {};
  const salt = randomBytes(16).toString('base64');
  const { fingerprint } = await deriveKey(passphrase, { ...KDF, salt });
  return { passphrase: sealPassphrase(keys, passphrase), salt, fingerprint };
}

/** The change without secrets, for the audit log. */
function withoutSecrets({ destination, copyTo, encryption, ...rest }: BackupSettingsChange): object {
  const named = (place: PlaceDraft | null | undefined): object | null | undefined =>
    place && { kind: place.kind, ...place.s3, ...place.storage };
  return {
    ...rest,
    ...(destination && { destination: named(destination) }),
    ...(copyTo !== undefined && { copyTo: named(copyTo) }),
    ...(encryption && { encryption: encryption.mode }),
  };
}

/** In a cluster, network policies may block an address that does not answer; the app cannot change them. */
function refusal({ deps: { config } }: Call, { kind }: PlaceRow, state: string): string {
  const message = 'Backups cannot be stored there';
  if (kind !== 's3' || state !== 'unreachable' || config.apiServerNetworks.length === 0) return message;
  return `${message}: the address does not answer. If it is private, network policies of the cluster may block it; spec.backup or spec.network.allow of the MediaServer opens it`;
}

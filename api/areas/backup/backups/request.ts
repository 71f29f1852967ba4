import { conflict } from '#kernel/errors.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import type { Db } from '#platform/db.ts';
import type { EnqueueOptions } from '#platform/jobs.ts';
import { enqueue } from '#platform/queue.ts';
import type { Settings } from '#platform/settings.ts';
import type { BackupTrigger } from '../backups.schemas.ts';
import { findPlace } from '../settings/places.store.ts';
import { isOutside, lookAt, type PlaceDeps } from '../settings/places.ts';
import { readBackupSettings } from '../settings/settings.store.ts';
import { insertBackup, isRestoring, newestGood, runningBackup, settleLost } from './backups.store.ts';
import { type Build, buildOf } from './backups.view.ts';

export interface RequestDeps extends PlaceDeps {
  settings: Settings;
  version: string;
}

export interface BackupOptions {
  trigger: BackupTrigger;
  note?: string | undefined;
  pinned?: boolean;
  objects?: 'kept' | 'all' | undefined;
  keepUntil?: Date | undefined;
  byAccountId?: string | undefined;
  cause?: EnqueueOptions['cause'];
}

const LEAST_BYTES = 16 * 2 ** 20;

/** Throws 409 `encryption-required` when `backup.requireEncryption` demands a passphrase and none is set. */
export async function refuseOpen({ db, settings }: RequestDeps): Promise<void> {
  const wanted = settings.get('backup.requireEncryption');
  const { passphrase, place_id, copy_id } = await readBackupSettings(db);
  if (passphrase !== null || wanted === 'never') return;
  const places = await Promise.all([place_id, copy_id].flatMap((id) => (id ? [findPlace(db, id)] : [])));
  const outside = wanted === 'always' || (await Promise.all(places.map(isOutside))).includes(true);
  if (outside) throw conflict('encryption-required', 'backup.requireEncryption requires a passphrase');
}

/**
 * Throws 409 for reasons that would fail a backup at once: encryption-required, restore-running, destination-
 * unreachable, no-space.
 */
export async function refuseBackup(deps: RequestDeps): Promise<void> {
  const { db } = deps;
  if (await isRestoring(db)) throw conflict('restore-running', 'A restore is under way');
  await refuseOpen(deps);
  const settings = await readBackupSettings(db);
  const free = await lookAt(deps, await findPlace(db, settings.place_id)).catch((error: unknown) => {
    if (!(error instanceof DestinationUnavailable)) throw error;
    if (error.state === 'full') throw conflict('no-space', 'The destination is full');
    throw conflict('destination-unreachable', 'The destination does not answer', { state: error.state });
  });
  const needed = (await newestGood(db))?.database_bytes ?? 0;
  if (free !== undefined && free < Math.max(LEAST_BYTES, needed))
    throw conflict('no-space', 'The destination has too little space', { freeBytes: free, neededBytes: needed });
}

/** Returns the queued or running backup, or creates one with its job in the caller's transaction. */
export async function requestBackup(
  { db, config, keys, version }: Pick<RequestDeps, 'config' | 'keys' | 'version'> & { db: Db },
  options: BackupOptions,
): Promise<{ id: string; isNew: boolean }> {
  await settleLost(db);
  const settings = await readBackupSettings(db);
  const build: Build = buildOf(version);
  const id = await insertBackup(db, {
    trigger: options.trigger,
    place_id: settings.place_id,
    objects_mode: options.objects ?? settings.objects,
    pinned: options.pinned ?? false,
    note: options.note || null,
    keep_until: options.keepUntil ?? null,
    by_account_id: options.byAccountId ?? null,
    server_id: keys.serverId,
    server_name: config.serverName,
    server_version: build.version,
    schema_version: build.schemaVersion,
  });
  if (id === undefined) {
    const running = await runningBackup(db);
    if (!running) throw conflict('busy', 'Another backup has just ended: try again');
    return { id: running.id, isNew: false };
  }
  const jobId = await enqueue(db, 'backup.create', {
    payload: { backupId: id },
    options: {
      target: { kind: 'backup', id },
      maxAttempts: 1, // a failed run is repeated after an hour as a new backup
      ...(options.byAccountId && { byAccountId: options.byAccountId }),
      ...(options.cause && { cause: options.cause }),
    },
  });
  await db('backups').where({ id }).update({ job_id: jobId });
  return { id, isNew: true };
}

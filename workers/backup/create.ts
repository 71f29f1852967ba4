import {
  type BackupRow,
  columnsOf,
  findPlace,
  noteLoose,
  openPlace,
  passphraseOf,
  readBackupSettings,
  recordUnavailable,
  refuseOpen,
  removeBackup,
  type SettingsRow,
  updateBackup,
  updateSettings,
} from '#areas/backup/public.ts';
import { fullVersion } from '#areas/server/public.ts';
import { ApiError } from '#kernel/errors.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { type BackupKey, deriveKey, KDF } from '#platform/backup/sealing.ts';
import {
  BACKUP_FORMAT,
  type BackupEncryption,
  BackupManifest,
  MANIFEST_MOST_BYTES,
  manifestName,
  manifestText,
} from '#platform/backup-manifest.ts';
import { Fenced } from '#platform/fence.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { type Keys, ringOf } from '#platform/keys.ts';
import { FinalFailure, Postponed } from '#workers/work.ts';
import { copyBackup } from './copy.ts';
import { type Dumped, dumpTables } from './dump.ts';
import { applyKeeping } from './keep-rules.ts';
import { storeObjects } from './objects.ts';
import { Pace } from './pace.ts';
import { type Making, type Run, reach } from './run.ts';
import { asSole } from './sole.ts';

const AGAIN_MS = 5000;

/**
 * Job backup.create. After a kill it resumes at the last object; the table snapshot is lost with its connection, so an
 * incomplete dump starts over.
 */
export async function createBackup(
  { backupId }: JobPayload<'backup.create'>,
  work: Making,
  version = fullVersion,
): Promise<unknown> {
  const row = await work.db('backups').where({ id: backupId }).first();
  if (!row || (row.state !== 'queued' && row.state !== 'running')) return undefined;
  const keys = await ringOf(work.config.keysFile);
  try {
    const sole = await asSole(work, async (client, gone) => {
      await updateBackup(work.db, row.id, {
        state: 'running',
        ...(row.state === 'queued' && { started_at: new Date() }),
      });
      const signal = AbortSignal.any([work.signal, gone]);
      const run = await begun({ work, row, keys, client, signal, version });
      return made(run, keys);
    });
    if (!sole) throw new Postponed(new Date(Date.now() + AGAIN_MS));
    return sole.value;
  } catch (error) {
    return ended(error, { work, row, keys });
  }
}

type Begun = Pick<Run, 'work' | 'row' | 'client' | 'signal' | 'version'> & { keys: Keys };

async function begun({ keys, ...start }: Begun): Promise<Run> {
  const { work, row } = start;
  const deps = { config: work.config, db: work.db, objects: work.objects, keys };
  await refuseOpen({ ...deps, settings: work.settings, version: fullVersion });
  const settings = await readBackupSettings(work.db);
  const destination = await openPlace(deps, await findPlace(work.db, row.place_id));
  const sealed = await encryptionOf(keys, settings);
  return { ...start, deps, destination, ...sealed, pace: new Pace(settings.max_bytes_per_second) };
}

async function encryptionOf(
  keys: Keys,
  settings: SettingsRow,
): Promise<{ encryption: BackupEncryption | null; key: BackupKey | undefined }> {
  if (settings.passphrase === null || settings.salt === null) return { encryption: null, key: undefined };
  const passphrase = passphraseOf(keys, settings);
  if (passphrase === undefined) throw new FinalFailure('wrong-passphrase', 'The passphrase is lost: enter it again');
  const how = { ...KDF, salt: settings.salt };
  const key = await deriveKey(passphrase, how);
  return { encryption: { ...how, fingerprint: key.fingerprint }, key };
}

interface Checkpoint {
  dumped: Dumped;
  startedAt: string;
  fingerprint: string | undefined;
}

async function made(run: Run, keys: Keys): Promise<{ sizeBytes: number }> {
  const { work, row, encryption } = run;
  const checkpoint = await dumpOnce(run);
  const { objects, newBytes } = await storeObjects(run);
  await reach(run, 'manifest', 0);
  const manifest = BackupManifest.parse({
    format: BACKUP_FORMAT,
    id: row.id,
    serverId: keys.serverId,
    serverName: work.settings.get('server.name'),
    serverVersion: run.version,
    startedAt: checkpoint.startedAt,
    finishedAt: new Date().toISOString(),
    objectsMode: row.objects_mode,
    encryption,
    objects,
    ...checkpoint.dumped,
  });
  const text = manifestText(manifest);
  if (text.length > MANIFEST_MOST_BYTES)
    throw new FinalFailure('too-many-objects', 'The manifest is too large to be read again');
  run.signal.throwIfAborted();
  await run.destination.write(manifestName(row.id), text);
  const columns = columnsOf(manifest);
  await updateBackup(work.db, row.id, { ...columns, new_bytes: newBytes });
  const { copy_id: copyId } = await readBackupSettings(work.db);
  const copies = copyId === null ? [] : [await copyBackup(run, manifest, copyId)];
  const finished = { state: 'completed', phase: null, progress: 1, finished_at: new Date() } as const;
  await updateBackup(work.db, row.id, { ...finished, copies: JSON.stringify(copies), error: null });
  await updateSettings(work.db, { noticed_at: null });
  await applyKeeping({ ...run.deps, settings: work.settings });
  return { sizeBytes: columns.size_bytes ?? 0 };
}

/** The dump of this run, or a complete one of an earlier attempt. */
async function dumpOnce(run: Run): Promise<Checkpoint> {
  const { work, row, encryption, destination } = run;
  const before = work.checkpoint as Checkpoint | null;
  if (before && before.fingerprint === encryption?.fingerprint) return before;
  for await (const { name } of destination.list(`backups/${row.id}/`)) await destination.remove(name);
  const startedAt = new Date().toISOString();
  const checkpoint = { startedAt, dumped: await dumpTables(run), fingerprint: encryption?.fingerprint };
  await work.keep(work.db, checkpoint);
  return checkpoint;
}

interface Ended {
  work: Making;
  row: BackupRow;
  keys: Keys;
}

/** Records the outcome: cancelled, to be resumed, or failed. */
async function ended(error: unknown, { work, row, keys }: Ended): Promise<never> {
  if (error instanceof Postponed) throw error;
  if (work.signal.aborted && work.signal.reason !== 'cancelled') throw error; // another worker resumes
  if (!work.signal.aborted && lostConnection(error)) throw new Postponed(new Date(Date.now() + AGAIN_MS));
  const cancelled = work.signal.aborted;
  const failure = failureOf(error);
  await updateBackup(work.db, row.id, {
    state: cancelled ? 'cancelled' : 'failed',
    phase: null,
    finished_at: new Date(),
    error: cancelled ? null : JSON.stringify(failure),
  });
  if (error instanceof DestinationUnavailable) await recordUnavailable(work.db, row.place_id, error);
  await cleanUp({ work, row, keys }).catch((fault: unknown) =>
    work.log.warn({ err: fault }, 'what the backup had written stays until the next listing'),
  );
  if (cancelled) throw error;
  work.log.warn({ err: error, backup: row.id }, 'the backup failed');
  throw new FinalFailure(failure.reason, failure.message);
}

/** The snapshot's connection broke, because its server restarts or failed over. */
function lostConnection(error: unknown): boolean {
  if (error instanceof Fenced) return true;
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return error === 'connection' || /^(57P0|08)/.test(code) || /Connection terminated|not queryable/.test(message);
}

async function cleanUp({ work, row, keys }: Ended): Promise<void> {
  const deps = { config: work.config, db: work.db, objects: work.objects, keys };
  await removeBackup(await openPlace(deps, await findPlace(work.db, row.place_id)), row.id);
  await noteLoose(work.db, row.place_id);
}

const UNAVAILABLE = {
  full: 'no-space',
  'read-only': 'destination-unreachable',
  unreachable: 'destination-unreachable',
} as const;

function failureOf(error: unknown): { code: string; reason: string; message: string } {
  if (error instanceof DestinationUnavailable)
    return { code: 'DESTINATION', reason: UNAVAILABLE[error.state], message: 'The destination did not take it' };
  if (error instanceof FinalFailure) return { code: 'CONFLICT', reason: error.code, message: error.message };
  const { reason } = error instanceof ApiError ? (error.details as { reason?: unknown }) : {};
  if (typeof reason === 'string') return { code: 'CONFLICT', reason, message: (error as Error).message };
  return { code: 'INTERNAL', reason: 'failed', message: 'It failed; the log of its worker says why' };
}

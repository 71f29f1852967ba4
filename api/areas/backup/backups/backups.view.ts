import { fullVersion } from '#areas/server/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { migrations } from '#platform/migrations/index.ts';
import type { Backup } from '../backups.schemas.ts';
import { nameOf } from '../settings/places.store.ts';
import { readBackupSettings, type SettingsRow } from '../settings/settings.store.ts';
import { type BackupRow, findBackup, GOOD, type ShownRow } from './backups.store.ts';

type Fault = NonNullable<Backup['notRestorableReason']>;

const newestMigration = Object.keys(migrations).sort().at(-1) ?? '';

/** Schema and version of this build. */
export interface Build {
  version: string;
  schemaVersion: string;
}

export const buildOf = (version: string): Build => ({ version, schemaVersion: newestMigration });

/** Whether a newer build than this one made the backup. */
export function isNewer(
  { server_version: version, schema_version: schema }: Pick<BackupRow, 'server_version' | 'schema_version'>,
  build: Build,
): boolean {
  return schema > build.schemaVersion || compareVersions(version, build.version) > 0;
}

function compareVersions(a: string, b: string): number {
  const numbers = (text: string): number[] => text.split(/[.+-]/).slice(0, 3).map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  const at = left.findIndex((part, i) => part !== right[i]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

/** Why this server cannot restore it without another passphrase or version. */
export function faultOf(row: BackupRow, build: Build, settings: Pick<SettingsRow, 'fingerprint'>): Fault | undefined {
  if (row.fault) return row.fault;
  if (isNewer(row, build)) return 'newer-version';
  return row.encryption && row.encryption.fingerprint !== settings.fingerprint ? 'wrong-passphrase' : undefined;
}

export interface Context {
  build: Build;
  settings: Pick<SettingsRow, 'fingerprint'>;
}

export async function contextOf({ db }: Pick<Call, 'db'>): Promise<Context> {
  return { build: buildOf(fullVersion), settings: await readBackupSettings(db) };
}

/** Throws NOT_FOUND. */
export async function shown(call: Call, id: string): Promise<Backup> {
  const row = await findBackup(call.db, id);
  if (!row) throw notFound();
  return toBackup(row, await contextOf(call));
}

export function toBackup(row: ShownRow, { build, settings }: Context): Backup {
  const live = row.state === 'queued' || row.state === 'running';
  return {
    id: row.id,
    state: row.state,
    trigger: row.trigger,
    ...(live && underWay(row)),
    destination: { kind: row.kind, name: nameOf(row) },
    copies: row.copies.map(({ name, ok, at }) => ({ name, ok, at })),
    serverId: row.server_id,
    serverName: row.server_name,
    serverVersion: row.server_version,
    schemaVersion: row.schema_version,
    database: { tables: row.tables, rows: row.rows, sizeBytes: row.database_bytes, at: iso(row.snapshot_at) },
    objects: {
      mode: row.objects_mode,
      count: row.objects_count,
      sizeBytes: row.objects_bytes,
      newBytes: row.new_bytes,
    },
    sizeBytes: row.size_bytes,
    encrypted: row.encryption !== null,
    ...restoring(row, { build, settings }),
    pinned: row.pinned,
    ...rarely(row),
    startedAt: iso(row.started_at),
    ...(row.finished_at && { finishedAt: iso(row.finished_at) }),
  };
}

const underWay = ({ progress, phase }: ShownRow): Partial<Backup> => ({ progress, ...(phase && { phase }) });

function restoring(row: ShownRow, { build, settings }: Context): Pick<Backup, 'restorable' | 'notRestorableReason'> {
  const there = GOOD.includes(row.state) || row.state === 'replaced';
  const fault = there || row.state === 'damaged' ? faultOf(row, build, settings) : undefined;
  return { restorable: there && fault === undefined, ...(fault && { notRestorableReason: fault }) };
}

function rarely(row: ShownRow): Partial<Backup> {
  return {
    ...(row.verification && { verification: row.verification }),
    ...(row.keep_until && { keepUntil: iso(row.keep_until) }),
    ...(row.note && { note: row.note }),
    ...(row.job_id && { jobId: row.job_id }),
    ...(row.by_account_id && { byUserId: row.by_account_id }),
    ...(row.error && { error: row.error }),
  };
}

import type { Knex } from 'knex';
import type { BackupEncryption, BackupManifest } from '#platform/backup-manifest.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { BackupState, BackupTrigger, BackupVerification } from '../backups.schemas.ts';
import type { PlaceRow } from '../settings/places.store.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'backups.phase': Phase;
    'backups.copies': { placeId: string; name: string; ok: boolean; at: string }[];
    'backups.encryption': BackupEncryption;
    'backups.verification': BackupVerification;
    'backups.error': { code: string; reason: string; message: string };
  }
}

export type Phase = 'snapshot' | 'dump' | 'objects' | 'manifest' | 'copy';

export type BackupRow = Row<'backups'>;

/** With its place and the state of its job. */
export type ShownRow = BackupRow & Pick<PlaceRow, 'kind' | 'place'>;

/** A job that was cancelled, or failed before it updated its backup, ends the backup too. */
const STATE = `case when b.state in ('queued', 'running') and j.state in ('failed', 'cancelled') then j.state else b.state end`;
export const GOOD: readonly BackupState[] = ['completed', 'verified'];

export interface BackupsWanted {
  state?: readonly BackupState[] | undefined;
  trigger?: BackupTrigger | undefined;
}

export function selectBackups(db: Db, { state, trigger }: BackupsWanted = {}): Knex.QueryBuilder<object, ShownRow[]> {
  return db('backups as b')
    .join('backup_places as p', 'p.id', 'b.place_id')
    .leftJoin('jobs as j', 'j.id', 'b.job_id')
    .modify((query) => {
      if (state) void query.whereRaw(`(${STATE}) = any(?)`, [[...state]]);
      if (trigger) void query.where('b.trigger', trigger);
    })
    .select<ShownRow[]>('b.*', db.raw(`${STATE} as state`), 'p.kind', 'p.place');
}

export async function findBackup(db: Db, id: string): Promise<ShownRow | undefined> {
  const [row] = await selectBackups(db).where('b.id', id);
  return row;
}

export async function newestGood(db: Db): Promise<ShownRow | undefined> {
  const [row] = await selectBackups(db, { state: GOOD })
    .whereNot('b.trigger', 'found')
    .orderBy('b.started_at', 'desc')
    .limit(1);
  return row;
}

/** Updates rows whose job ended without updating them, such as a job cancelled while it waited. */
export async function settleLost(db: Db): Promise<void> {
  await db.raw(`update backups b set state = j.state, phase = null, finished_at = coalesce(j.finished_at, now()),
      error = case when j.state = 'failed' then
        '{"code": "INTERNAL", "reason": "worker-lost", "message": "Its worker died each time"}'::jsonb end
    from jobs j where j.id = b.job_id and b.state in ('queued', 'running') and j.state in ('failed', 'cancelled')`);
  await db.raw(`update backups b set state = 'failed', phase = null, finished_at = now(),
      error = '{"code": "INTERNAL", "reason": "job-lost", "message": "Its job is gone"}'::jsonb
    where b.state in ('queued', 'running') and b.job_id is not null and not exists (select from jobs j where j.id = b.job_id)`);
}

export async function runningBackup(db: Db): Promise<ShownRow | undefined> {
  const [row] = await selectBackups(db, { state: ['queued', 'running'] }).limit(1);
  return row;
}

type NewRow = Pick<BackupRow, 'trigger' | 'place_id' | 'objects_mode' | 'schema_version' | 'server_name'> &
  Partial<BackupRow> & { server_id: string; server_version: string };

/** Undefined while another backup is queued or running. */
export async function insertBackup(db: Db, row: NewRow): Promise<string | undefined> {
  const id = newId();
  const [added] = await db('backups')
    .insert({ id, state: 'queued', ...row })
    .onConflict(db.raw(`((true)) where state in ('queued', 'running')`))
    .ignore()
    .returning('id');
  return added?.id;
}

export type BackupColumns = Partial<Omit<BackupRow, 'id' | 'copies' | 'encryption' | 'verification' | 'error'>> & {
  copies?: string;
  encryption?: string | null;
  verification?: string | null;
  error?: string | null;
};

export async function updateBackup(db: Db, id: string, change: BackupColumns): Promise<void> {
  await db('backups').where({ id }).update(change);
}

export async function deleteBackupRow(db: Db, id: string): Promise<void> {
  await db('backups').where({ id }).delete();
}

/** Columns of a backup as its manifest describes it. */
export function columnsOf(manifest: BackupManifest) {
  const parts = manifest.tables.flatMap((table) => table.parts);
  const stored = parts.reduce((sum, part) => sum + part.storedBytes, 0);
  const unlike = new Map(manifest.objects.map((object) => [object.sha256, object.bytes]));
  const objectBytes = [...unlike.values()].reduce((sum, bytes) => sum + bytes, 0);
  return {
    server_id: manifest.serverId,
    server_name: manifest.serverName,
    server_version: manifest.serverVersion,
    schema_version: manifest.schemaVersion,
    tables: manifest.tables.length,
    rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
    database_bytes: stored,
    snapshot_at: new Date(manifest.snapshotAt),
    objects_mode: manifest.objectsMode,
    objects_count: manifest.objects.length,
    objects_bytes: objectBytes,
    size_bytes: stored + objectBytes,
    encryption: manifest.encryption && JSON.stringify(manifest.encryption),
  };
}

/** Kinds of the jobs that read or write this backup now. */
export async function busyWith(db: Db, id: string): Promise<string[]> {
  return db('jobs')
    .whereIn('kind', ['backup.create', 'backup.verify', 'backup.restore'])
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .whereRaw(`target ->> 'id' = ?`, [id])
    .pluck('kind');
}

export async function isRestoring(db: Db): Promise<boolean> {
  const found = await db('jobs')
    .where({ kind: 'backup.restore' })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .first('id');
  return found !== undefined;
}

import { fullVersion } from '#areas/server/public.ts';
import type { Db } from '#platform/db.ts';
import { migrationsLeft } from '#platform/migrate.ts';
import { readBackupSettings } from '../settings/settings.store.ts';
import { type BackupRow, GOOD } from './backups.store.ts';
import { requestBackup } from './request.ts';

/** An upgrade that is tried again goes by the backup of before, for so long. */
const HOLDS_MS = 3_600_000;
const note = `Before ${fullVersion}`;

/**
 * Whether a backup is asked for before this build migrates the database, which may be of any earlier build: not where nothing is
 * to be migrated, nor where backups are switched off, nor once there is a good one.
 */
export async function upgradeWantsBackup(db: Db): Promise<boolean> {
  const left = await migrationsLeft(db);
  if (!left || left.length === 0) return false;
  const [found] = await db.select(db.raw(`to_regclass('backup_settings') is not null as there`));
  if (!found?.there) return false;
  const { enabled, before_upgrade: wanted } = await readBackupSettings(db);
  if (!enabled || !wanted) return false;
  const good = await db('backups')
    .where({ trigger: 'before-upgrade', note })
    .whereIn('state', [...GOOD])
    .where('finished_at', '>', new Date(Date.now() - HOLDS_MS))
    .first('id');
  return good === undefined;
}

/** The version that the database is of, as far as it says so. */
export async function versionOfDatabase(db: Db): Promise<string> {
  const row = await db('server_state').first<{ version?: string | null } | undefined>('*');
  return row?.version ?? fullVersion;
}

/** The backup before this upgrade, or another one that waits or runs: that is to end first. */
export async function requestBeforeUpgrade(
  deps: Parameters<typeof requestBackup>[0],
): Promise<{ id: string; isOurs: boolean }> {
  const { id } = await requestBackup(deps, { trigger: 'before-upgrade', note });
  const row = await deps.db('backups').where({ id }).first<Pick<BackupRow, 'trigger' | 'note'>>('trigger', 'note');
  return { id, isOurs: row.trigger === 'before-upgrade' && row.note === note };
}

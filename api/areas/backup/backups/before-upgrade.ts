import { fullVersion } from '#areas/server/public.ts';
import { type Db, existing } from '#platform/db.ts';
import { migrationsLeft } from '#platform/migrate.ts';
import { readBackupSettings } from '../settings/settings.store.ts';
import { GOOD } from './backups.store.ts';
import { requestBackup } from './request.ts';

/** A repeated upgrade accepts an earlier backup of at most this age. */
const HOLDS_MS = 3_600_000;
const note = `Before ${fullVersion}`;

/**
 * Whether a backup is required before this build migrates the database: not without pending migrations, not while
 * backups are disabled, not when a good one exists. Works with the schema of any earlier build.
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

/** The server version recorded in the database, if any. */
export async function versionOfDatabase(db: Db): Promise<string> {
  const row = await db('server_state').first();
  return row?.version ?? fullVersion;
}

/** Requests the backup before this upgrade, or returns another one that is queued or running and must end first. */
export async function requestBeforeUpgrade(
  deps: Parameters<typeof requestBackup>[0],
): Promise<{ id: string; isOurs: boolean }> {
  const { id } = await requestBackup(deps, { trigger: 'before-upgrade', note });
  const row = existing(await deps.db('backups').where({ id }).first('trigger', 'note'));
  return { id, isOurs: row.trigger === 'before-upgrade' && row.note === note };
}

// spec.backup of the MediaServer takes precedence over settings from the app.
import type { Config, DeclaredBackup } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, sign } from '#platform/keys.ts';
import type { PlaceDraft } from '../backups.schemas.ts';
import { encryptionColumns } from './change-settings.ts';
import { putPlace } from './places.store.ts';
import { lockBackupSettings, type SettingsColumns, updateSettings } from './settings.store.ts';

/**
 * Applies the declared settings when they changed; fields that are no longer declared become editable and keep their
 * values.
 */
export async function declareBackups(db: Db, config: Config, keys: Keys): Promise<void> {
  const { declaredBackup: declared } = config;
  const row = await lockBackupSettings(db);
  const mark = declared ? sign(keys, `backup|${JSON.stringify(declared)}`).toString('base64url') : null;
  if (row.declared_mark === mark) return;
  const columns = declared ? await columnsOf(db, keys, declared) : { managed_fields: [] };
  await updateSettings(db, { ...columns, declared_mark: mark, revision: row.revision + 1 });
}

async function columnsOf(db: Db, keys: Keys, declared: DeclaredBackup): Promise<SettingsColumns> {
  const { schedule, keep, destination, copyTo, passphrase } = declared;
  const put = (place: DeclaredBackup['destination']): Promise<string> =>
    putPlace(db, keys, { drafted: draftOf(place), declared: true });
  const encryption = { mode: passphrase === undefined ? 'none' : 'passphrase', passphrase } as const;
  const row = await lockBackupSettings(db);
  const named = ['enabled', 'cron', 'keep', 'destination', 'copyTo', 'encryption'];
  return {
    enabled: true,
    cron: schedule,
    ...(row.cron !== schedule && { scheduled_at: new Date() }),
    ...(!row.enabled && { enabled_at: new Date() }),
    keep: JSON.stringify(keep),
    place_id: await put(destination),
    copy_id: copyTo ? await put(copyTo) : null,
    ...(await encryptionColumns(keys, row, encryption)),
    managed_fields: named,
  };
}

function draftOf({ secretAccessKey, ...place }: DeclaredBackup['destination']): PlaceDraft {
  const { prefix, region = 'us-east-1', ...rest } = place;
  return { kind: 's3', s3: { ...rest, region, ...(prefix !== undefined && { prefix }) }, secretAccessKey };
}

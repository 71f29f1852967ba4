import { type Db, existing } from '#platform/db.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Keep } from '../backups.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'backup_settings.keep': Keep;
  }
}

export type SettingsRow = Row<'backup_settings'>;

export async function readBackupSettings(db: Db): Promise<SettingsRow> {
  return existing(await db('backup_settings').first());
}

export async function lockBackupSettings(db: Db): Promise<SettingsRow> {
  return existing(await db('backup_settings').forUpdate().first());
}

export type SettingsColumns = Partial<Omit<SettingsRow, 'keep'>> & { keep?: string };

export async function updateSettings(db: Db, change: SettingsColumns): Promise<void> {
  await db('backup_settings').update(change);
}

const PLACE = 'backup_settings|passphrase|one';
export const sealPassphrase = (keys: Keys, passphrase: string): string => seal(keys, passphrase, PLACE);

/** Undefined without encryption, or when no key of the ring opens it. */
export const passphraseOf = (keys: Keys, { passphrase }: SettingsRow): string | undefined =>
  passphrase === null ? undefined : unseal(keys, passphrase, PLACE);

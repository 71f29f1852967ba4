import type { Db } from '#platform/db.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import type { Keep } from '../backups.schemas.ts';

export interface SettingsRow {
  enabled: boolean;
  cron: string;
  verify_cron: string;
  keep: Keep;
  before_upgrade: boolean;
  objects: 'kept' | 'all';
  place_id: string;
  copy_id: string | null;
  passphrase: string | null;
  salt: string | null;
  fingerprint: string | null;
  max_bytes_per_second: number | null;
  managed_fields: string[];
  declared_mark: string | null;
  scheduled_at: Date;
  verified_at: Date;
  enabled_at: Date;
  noticed_at: Date | null;
  revision: number;
}

export async function readBackupSettings(db: Db): Promise<SettingsRow> {
  return db('backup_settings').first<SettingsRow>();
}

export async function lockBackupSettings(db: Db): Promise<SettingsRow> {
  return db('backup_settings').forUpdate().first<SettingsRow>();
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

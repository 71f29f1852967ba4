import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Settings } from '#platform/settings.ts';
import { newestGood, type ShownRow } from '../backups/backups.store.ts';
import type { BackupDestination, BackupSettings, BackupWarning } from '../backups.schemas.ts';
import { findPlace, folderOf, type PlaceRow, s3Of } from './places.store.ts';
import { nextRun } from './schedule.ts';
import { readBackupSettings, type SettingsRow } from './settings.store.ts';

export const etagOf = ({ revision }: Pick<SettingsRow, 'revision'>): string => `"${revision}"`;

export function toDestination(row: PlaceRow): BackupDestination {
  return {
    kind: row.kind,
    ...(row.kind === 's3' && { s3: { ...s3Of(row), secretSet: row.secret !== null } }),
    ...(row.kind === 'storage' && { storage: folderOf(row) }),
    ...(row.free_bytes !== null && { freeBytes: row.free_bytes }),
    state: row.state,
    ...(row.state_reason !== null && { stateReason: row.state_reason }),
  };
}

interface Whole {
  row: SettingsRow;
  destination: PlaceRow;
  copyTo: PlaceRow | undefined;
  last: ShownRow | undefined;
  everVerified: boolean;
}

const DAY_MS = 86_400_000;

function warningsOf({ row, destination, copyTo, last, everVerified }: Whole, timeZone: string): BackupWarning[] {
  const places = copyTo ? [destination, copyTo] : [destination];
  const due = row.enabled ? nextRun(row.cron, last?.started_at ?? row.scheduled_at, timeZone) : undefined;
  const sealed = row.passphrase !== null;
  const found: Record<BackupWarning, boolean> = {
    'same-place': places.every(({ kind }) => kind === 'builtin'),
    'not-encrypted': !sealed && places.some(({ kind }) => kind === 's3'),
    'never-verified': last !== undefined && !everVerified,
    overdue: due !== undefined && due.getTime() + DAY_MS < Date.now(),
    'no-passphrase-copy': sealed && !row.managed_fields.includes('encryption'),
  };
  return (Object.keys(found) as BackupWarning[]).filter((warning) => found[warning]);
}

async function wholeOf(db: Db): Promise<Whole> {
  const row = await readBackupSettings(db);
  return {
    row,
    destination: await findPlace(db, row.place_id),
    copyTo: row.copy_id === null ? undefined : await findPlace(db, row.copy_id),
    last: await newestGood(db),
    everVerified: (await db('backups').where({ state: 'verified' }).first('id')) !== undefined,
  };
}

export async function showSettings(db: Db, settings: Settings): Promise<BackupSettings> {
  const timeZone = settings.get('server.timeZone');
  const whole = await wholeOf(db);
  const { row, destination } = whole;
  return {
    enabled: row.enabled,
    cron: row.cron,
    keep: row.keep,
    beforeUpgrade: row.before_upgrade,
    objects: row.objects,
    verifyCron: row.verify_cron,
    destination: toDestination(destination),
    encryption: {
      mode: row.passphrase === null ? 'none' : 'passphrase',
      passphraseSet: row.passphrase !== null,
      ...(row.fingerprint !== null && { fingerprint: row.fingerprint }),
    },
    ...sometimes(whole, timeZone),
    warnings: warningsOf(whole, timeZone),
    revision: row.revision,
  };
}

function sometimes({ row, copyTo, last }: Whole, timeZone: string): Partial<BackupSettings> {
  const next = row.enabled ? nextRun(row.cron, new Date(), timeZone) : undefined;
  const at = last?.finished_at;
  return {
    ...(copyTo && { copyTo: toDestination(copyTo) }),
    ...(row.max_bytes_per_second !== null && { maxBytesPerSecond: row.max_bytes_per_second }),
    ...(next && { nextRunAt: iso(next) }),
    ...(last && at && { lastCompleted: { id: last.id, at: iso(at), sizeBytes: last.size_bytes } }),
    ...(row.managed_fields.length > 0 && { managedFields: row.managed_fields }),
  };
}

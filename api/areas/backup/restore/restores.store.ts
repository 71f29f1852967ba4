import { conflict } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Keys, seal } from '#platform/keys.ts';
import type { Restore } from './restore.schemas.ts';

interface RestoreRow {
  id: string;
  backup_id: string;
  job_id: string;
  state: Restore['state'];
  phase: Restore['phase'];
  progress: number;
  started_at: Date;
  switched_at: Date | null;
  replaced_backup_id: string | null;
  error: Restore['error'] | null;
}

const toRestore = (row: RestoreRow): Restore => ({
  backupId: row.backup_id,
  state: row.state,
  progress: row.progress,
  phase: row.phase,
  startedAt: iso(row.started_at),
  ...(row.switched_at && { switchedAt: iso(row.switched_at) }),
  ...(row.replaced_backup_id && { replacedBackupId: row.replaced_backup_id }),
  jobId: row.job_id,
  ...(row.error && { error: row.error }),
});

/** The running restore, or the last one. */
export async function lastRestore(db: Db): Promise<Restore | undefined> {
  const row = await db.from('foyer_restore.restores').orderBy('started_at', 'desc').first();
  return row && toRestore(row);
}

/** Binds a passphrase to its restore. */
export const passphrasePlace = (id: string): string => `foyer_restore.restores|passphrase|${id}`;

export interface RestoreOptions {
  backupId: string;
  /** Hash of the manifest; null for a database that a restore put aside. */
  manifestSha256: string | null;
  passphrase: string | undefined;
  accountId: string;
}

/**
 * Records a restore in the caller's transaction, where the restore process finds it. Its job is listed and cancelled
 * like others, but no worker runs it. Throws 409 `restore-running`.
 */
export async function putRestore(db: Db, keys: Keys, options: RestoreOptions): Promise<Restore> {
  const id = newId();
  const jobId = newId();
  const [row] = await db
    .from('foyer_restore.restores')
    .insert({
      id,
      backup_id: options.backupId,
      job_id: jobId,
      account_id: options.accountId,
      manifest_sha256: options.manifestSha256,
      passphrase_sealed: options.passphrase === undefined ? null : seal(keys, options.passphrase, passphrasePlace(id)),
    })
    .onConflict(db.raw(`((true)) where state in ('preparing', 'switching')`))
    .ignore()
    .returning('*');
  if (!row) throw conflict('restore-running', 'A restore is under way');
  await db('jobs').insert({
    id: jobId,
    kind: 'backup.restore',
    queue: 'maintenance',
    target: JSON.stringify({ kind: 'backup', id: options.backupId }),
    by_account_id: options.accountId,
    cause: 'person',
    max_attempts: 1,
  });
  return toRestore(row);
}

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

/** The one that is under way, or the last. */
export async function lastRestore(db: Db): Promise<Restore | undefined> {
  const row = await db.from('foyer_restore.restores').orderBy('started_at', 'desc').first();
  return row && toRestore(row);
}

/** Binds a passphrase to its restore. */
export const passphrasePlace = (id: string): string => `foyer_restore.restores|passphrase|${id}`;

export interface RestoreOptions {
  backupId: string;
  /** Of the manifest; null for a database that a restore put aside. */
  manifestSha256: string | null;
  passphrase: string | undefined;
  accountId: string;
}

/**
 * Puts a restore on record, in the caller's transaction; the process that restores finds it there. Its job is told and cancelled
 * as others are, but no worker runs it. Throws 409 `restore-running`.
 */
export async function putRestore(db: Db, keys: Keys, wish: RestoreOptions): Promise<Restore> {
  const id = newId();
  const jobId = newId();
  const [row] = await db
    .from('foyer_restore.restores')
    .insert({
      id,
      backup_id: wish.backupId,
      job_id: jobId,
      account_id: wish.accountId,
      manifest_sha256: wish.manifestSha256,
      passphrase_sealed: wish.passphrase === undefined ? null : seal(keys, wish.passphrase, passphrasePlace(id)),
    })
    .onConflict(db.raw(`((true)) where state in ('preparing', 'switching')`))
    .ignore()
    .returning('*');
  if (!row) throw conflict('restore-running', 'A restore is under way');
  await db('jobs').insert({
    id: jobId,
    kind: 'backup.restore',
    queue: 'maintenance',
    target: JSON.stringify({ kind: 'backup', id: wish.backupId }),
    by_account_id: wish.accountId,
    cause: 'person',
    max_attempts: 1,
  });
  return toRestore(row);
}

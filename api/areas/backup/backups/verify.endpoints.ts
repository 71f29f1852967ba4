import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { seal } from '#platform/keys.ts';
import { Backup, VerifyBackup } from '../backups.schemas.ts';
import { shown } from './backups.endpoints.ts';
import { findBackup, isRestoring } from './backups.store.ts';
import { openBackup } from './stored.ts';
import { verifyPlace } from './verifying.ts';

/** States in which there is something to read. */
const READABLE = ['completed', 'verified', 'damaged'];
/** Faults of the files: the verification itself says those. */
const SAID_LATER = ['damaged', 'incomplete'];

export const verifyBackup = defineEndpoint({
  operationId: 'verifyBackup',
  method: 'post',
  path: '/backups/:id/verify',
  summary: 'Read a backup through its checksums, or load it and check its rows',
  access: { permission: 'settings:manage' },
  params: IdParams,
  body: VerifyBackup,
  optionalBody: true,
  answer: json(202, Backup),
  errors: ['CONFLICT', 'RATE_LIMITED'],

  async handle({ params, body }, call) {
    const { db, deps } = call;
    const { depth, passphrase } = VerifyBackup.parse(body ?? {});
    const row = await findBackup(db, params.id);
    if (!row) throw notFound();
    if (!READABLE.includes(row.state)) throw conflict('not-complete', 'There is nothing whole to read');
    if (await isRestoring(db)) throw conflict('restore-running', 'A restore is under way');
    await openBackup({ ...deps, db }, row, passphrase).catch((error: unknown) => {
      if (error instanceof DestinationUnavailable)
        throw conflict('destination-unreachable', 'The destination does not answer');
      if (!(error instanceof BackupFault)) throw error;
      if (!SAID_LATER.includes(error.code)) throw conflict(error.code, error.message);
    });
    const sealed = passphrase === undefined ? {} : { passphrase: seal(deps.keys, passphrase, verifyPlace(row.id)) };
    await call.enqueue(
      'backup.verify',
      { backupId: row.id, depth, ...sealed },
      { target: { kind: 'backup', id: row.id }, key: `backup.verify:${row.id}` },
    );
    return shown(call, row.id);
  },
});

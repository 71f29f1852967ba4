import { type Deps, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { seal } from '#platform/keys.ts';
import { Backup, VerifyBackup } from '../backups.schemas.ts';
import { findBackup, isRestoring, type ShownRow } from './backups.store.ts';
import { shown } from './backups.view.ts';
import { openBackup } from './stored.ts';
import { verifyPlace } from './verifying.ts';

/** States in which a backup has files. */
const READABLE = ['completed', 'verified', 'damaged'];
/** Faults of the files, which the verification itself reports. */
const REPORTED_LATER = ['damaged', 'incomplete'];

export const verifyBackup = defineEndpoint({
  operationId: 'verifyBackup',
  method: 'post',
  path: '/backups/:id/verify',
  summary: 'Verify a backup',
  description:
    'Starts the job `backup.verify` and returns the backup; the result appears in its `verification`. Depth `checksums` reads every part, `load` also loads the dump into a scratch schema and checks its rows. Pass `passphrase` if the backup was encrypted with another one than the settings hold; a wrong one is 409 `wrong-passphrase`.',
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
    if (!READABLE.includes(row.state)) throw conflict('not-complete', 'The backup has no complete files to read');
    if (await isRestoring(db)) throw conflict('restore-running', 'A restore is under way');
    await refuseUnreadable({ ...deps, db }, row, passphrase);
    const sealed = passphrase === undefined ? {} : { passphrase: seal(deps.keys, passphrase, verifyPlace(row.id)) };
    await call.enqueue(
      'backup.verify',
      { backupId: row.id, depth, ...sealed },
      { target: { kind: 'backup', id: row.id }, key: `backup.verify:${row.id}` },
    );
    return shown(call, row.id);
  },
});

/** Throws 409 for a backup that cannot be opened; the verification itself reports damaged and missing files. */
async function refuseUnreadable(deps: Deps, row: ShownRow, passphrase: string | undefined): Promise<void> {
  await openBackup(deps, row, passphrase).catch((error: unknown) => {
    if (error instanceof DestinationUnavailable)
      throw conflict('destination-unreachable', 'The destination does not answer');
    if (!(error instanceof BackupFault)) throw error;
    if (!REPORTED_LATER.includes(error.code)) throw conflict(error.code, error.message);
  });
}

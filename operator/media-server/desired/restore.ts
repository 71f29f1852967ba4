// The Job that restores a backup. Its progress is recorded in Postgres, so a replaced pod resumes it.
import type { Manifest } from '../../runtime/manifest.ts';
import type { Context } from './context.ts';
import { metaOf } from './meta.ts';
import { declared, hashOf, oneShot, oneShotPod, ownerParts } from './migrate.ts';

/** Retried for days: it resumes where it stopped, and only it can reopen a server that was closed for the restore. */
const ATTEMPTS = 1000;

/**
 * It also applies the declared owner and keys, as the migration does, and mounts media, since a storage may hold the backups.
 */
export function restoreJob(context: Context): Manifest<'Job'> {
  const component = 'restore' as const;
  const args = ['workers/restore/main.ts'];
  const more = { env: declared(context), ...ownerParts(context), bare: false };
  const template = oneShotPod(context, { component, args, ...more });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metaOf(context.server, { suffix: `restore-${hashOf(template)}`, component }),
    spec: oneShot(template, ATTEMPTS),
  };
}

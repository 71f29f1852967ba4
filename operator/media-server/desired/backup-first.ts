// The Job before the migration of another version: the backup that the server's settings require.
import type { Manifest } from '../../runtime/manifest.ts';
import type { Context } from './context.ts';
import { metaOf } from './meta.ts';
import { hashOf, oneShot, oneShotPod } from './migrate.ts';

/** Each attempt creates a backup of its own. */
const ATTEMPTS = 1;
const SCRIPT = 'workers/backup/before-upgrade.ts';
/** A downgrade to a version without this script has nothing to migrate, and needs no backup. */
const WHERE_THERE_IS_ONE = `if (process.getBuiltinModule('fs').existsSync('${SCRIPT}')) import('./${SCRIPT}');
else process.stdout.write('this version makes no backup before an upgrade\\n');`;

/**
 * The script decides whether the settings require a backup and a migration is pending. It mounts the media, since a storage
 * may hold the backups.
 */
export function backupFirstJob(context: Context): Manifest<'Job'> {
  const component = 'backup' as const;
  const args = ['--eval', WHERE_THERE_IS_ONE];
  const template = oneShotPod(context, { component, args, bare: false });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metaOf(context.server, { suffix: `backup-${hashOf(template)}`, component }),
    spec: oneShot(template, ATTEMPTS),
  };
}

// The Job before the migration of another version: the backup that the server's settings ask for.
import type { KubeObject } from '../../runtime/kube.ts';
import type { Context } from './context.ts';
import { metaOf } from './meta.ts';
import { hashOf, oneShot, oneShotPod } from './migrate.ts';

/** Each attempt is a backup of its own. */
const ATTEMPTS = 1;
const SCRIPT = 'workers/backup/before-upgrade.ts';
/** An image of before there was such a backup is gone back to: it has nothing to migrate, and no script either. */
const WHERE_THERE_IS_ONE = `if (process.getBuiltinModule('fs').existsSync('${SCRIPT}')) import('./${SCRIPT}');
else process.stdout.write('this version makes no backup before an upgrade\\n');`;

/** It sees whether a backup is asked for and anything is to be migrated; backups may lie on a storage. */
export function backupFirstJob(context: Context): KubeObject {
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

// The Job that restores a backup: what it does is on record in Postgres, so a pod that is lost is simply made again.
import type { KubeObject } from '../../runtime/kube.ts';
import type { Context } from './context.ts';
import { metaOf } from './meta.ts';
import { declared, hashOf, oneShot, oneShotPod, ownerParts } from './migrate.ts';

/** It goes on where it was lost, and a server that is closed meanwhile has nobody else to open it: it is tried for days. */
const ATTEMPTS = 1000;

/** It also makes true what the resource declares, as the migration does, and reads backups that lie on a storage. */
export function restoreJob(context: Context): KubeObject {
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

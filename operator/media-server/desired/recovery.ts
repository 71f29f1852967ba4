// Answer to foyer.media/owner-recovery: the operator makes the token and keeps it in a Secret; the Job is told its hash alone.
import { type Fresh, sha256 } from '../../keys.ts';
import type { KubeObject } from '../../runtime/kube.ts';
import type { Server } from '../server.ts';
import type { Context } from './context.ts';
import { metaOf, nameOf, secretObject } from './meta.ts';
import { hashOf, oneShot, oneShotPod } from './migrate.ts';

export const RECOVERY = 'foyer.media/owner-recovery';
/** When the token of the Secret ends. */
export const EXPIRES = 'foyer.media/expires-at';
const ATTEMPTS = 2;

/** Name of the Secret for a value of the annotation, after the server's. */
export const recoverySuffix = (value: string): string => `recovery-${hashOf(value)}`;

interface Answer {
  value: string;
  seen: Readonly<Record<string, string>> | undefined;
  fresh: Fresh;
  expiresAt: string | undefined;
}

/** Made once a value, like every Secret of the operator. */
export function recoverySecret(server: Server, { value, seen, fresh, expiresAt }: Answer): KubeObject {
  const annotations = expiresAt === undefined ? {} : { [EXPIRES]: expiresAt };
  const metadata = metaOf(server, { suffix: recoverySuffix(value), component: 'recovery', annotations });
  return secretObject(metadata, seen ?? { token: fresh.resetToken() });
}

/** Named by its content: what it is told may change while it runs. */
export function recoveryJob(context: Context, value: string): KubeObject {
  const { server, secrets } = context;
  const token = secrets.get(nameOf(server, recoverySuffix(value)))?.token ?? '';
  const template = oneShotPod(context, { component: 'recovery', args: ['api/recover-owner.ts', sha256(token)] });
  const annotations = { [RECOVERY]: hashOf(value) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metaOf(server, { suffix: `recover-${hashOf(template)}`, component: 'recovery', annotations }),
    spec: oneShot(template, ATTEMPTS),
  };
}

// Handles foyer.media/owner-recovery: the operator creates the token and stores it in a Secret; the Job gets only its hash.
import { type Fresh, sha256 } from '../../keys.ts';
import type { Manifest } from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';
import type { Context } from './context.ts';
import { metaOf, nameOf, secretObject } from './meta.ts';
import { hashOf, oneShot, oneShotPod } from './migrate.ts';

export const RECOVERY = 'foyer.media/owner-recovery';
/** When the token in the Secret expires. */
export const EXPIRES = 'foyer.media/expires-at';
const ATTEMPTS = 2;

/** Name suffix of the Secret for a value of the annotation. */
export const recoverySuffix = (value: string): string => `recovery-${hashOf(value)}`;

interface Answer {
  value: string;
  observed: Readonly<Record<string, string>> | undefined;
  fresh: Fresh;
  expiresAt: string | undefined;
}

/** Created once per value of the annotation. */
export function recoverySecret(server: Server, { value, observed, fresh, expiresAt }: Answer): Manifest<'Secret'> {
  const annotations = expiresAt === undefined ? {} : { [EXPIRES]: expiresAt };
  const metadata = metaOf(server, { suffix: recoverySuffix(value), component: 'recovery', annotations });
  return secretObject(metadata, observed ?? { token: fresh.resetToken() });
}

/** The name depends on the content, since the inputs may change while it runs. */
export function recoveryJob(context: Context, value: string): Manifest<'Job'> {
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

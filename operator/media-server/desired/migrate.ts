// The Jobs of a roll-out: expand before it, contract after it.
import { createHash } from 'node:crypto';
import { sha256 } from '../../keys.ts';
import type { JobSpec, Manifest, PodTemplate } from '../../runtime/manifest.ts';
import { type Context, fingerprint } from './context.ts';
import type { EnvValue } from './environment.ts';
import { metaOf, nameOf } from './meta.ts';
import { type FoyerPod, foyerPod, sized } from './pod.ts';

/** Attempts until the Job fails; the pause between them doubles from 10 s. */
const ATTEMPTS = 6;
const PHASE = 'foyer.media/phase';

export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10);

/** An evicted pod does not count as an attempt. */
export const oneShot = (template: PodTemplate, attempts: number): JobSpec => ({
  completions: 1,
  parallelism: 1,
  backoffLimit: attempts,
  podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
  template,
});

export const oneShotPod = (context: Context, pod: Pick<FoyerPod, 'component' | 'args'> & Partial<FoyerPod>) =>
  foyerPod(context, {
    resources: sized('50m', '128Mi', { cpu: '1', memory: '512Mi' }),
    pod: { restartPolicy: 'Never' },
    grace: 30,
    bare: true,
    ...pod,
  });

const OWNER_FOLDER = '/etc/foyer/owner';

/** The state that api/migrate.ts sets in addition to the schema. */
export function declared({ server, secrets, claimSha256 }: Context): Record<string, EnvValue> {
  const operatorKey = secrets.get(nameOf(server, 'operator-key'))?.key ?? '';
  const owner = server.spec.ownerSecretRef !== undefined;
  return {
    FOYER_OPERATOR_KEY_SHA256: sha256(operatorKey),
    ...(claimSha256 !== undefined && !owner && { FOYER_CLAIM_SHA256: claimSha256 }),
    ...(owner && { FOYER_OWNER_FILE: `${OWNER_FOLDER}/owner.json` }),
  };
}

export function ownerParts({ server }: Context): Pick<FoyerPod, 'volumes' | 'mounts'> {
  if (!server.spec.ownerSecretRef) return {};
  const secret = { secretName: nameOf(server, 'owner'), defaultMode: 0o444 };
  return {
    volumes: [{ name: 'owner', secret }],
    mounts: [{ name: 'owner', mountPath: OWNER_FOLDER, readOnly: true }],
  };
}

function job(
  context: Context,
  phase: 'expand' | 'contract',
  made: { hash: string; template: PodTemplate },
): Manifest<'Job'> {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metaOf(context.server, {
      suffix: `migrate-${made.hash}`,
      component: 'migrate',
      annotations: { [PHASE]: phase },
    }),
    spec: oneShot(made.template, ATTEMPTS),
  };
}

/** The name depends on all inputs: another version or environment creates another Job. */
export function expandJob(context: Context): { hash: string; job: Manifest<'Job'> } {
  const { server, secrets } = context;
  const component = 'migrate' as const;
  const args = ['api/migrate.ts', 'expand'];
  const template = oneShotPod(context, { component, args, env: declared(context), ...ownerParts(context) });
  const owner = secrets.get(server.spec.ownerSecretRef?.name ?? '');
  const hash = hashOf([template, owner && fingerprint(server, secrets, owner)]);
  return { hash, job: job(context, 'expand', { hash, template }) };
}

/** One Job per image. */
export function contractJob(context: Context): Manifest<'Job'> {
  const template = oneShotPod(context, { component: 'migrate', args: ['api/migrate.ts', 'contract'] });
  return job(context, 'contract', { hash: hashOf(['contract', context.images.foyer, template]), template });
}

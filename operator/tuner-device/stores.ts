// The stores of a server, for the pods of its tuners.
import type { KubeObject, Reader } from '../runtime/kube.ts';
import type { EnvVar, PodTemplate, Volume, VolumeMount } from '../runtime/manifest.ts';

/** References to Secrets, never their values. */
export interface Stores {
  env: readonly EnvVar[];
  volumes: readonly Volume[];
  mounts: readonly VolumeMount[];
}

/** The variables that a tuner needs; it gets no mail, sign-in, catalogue or backup configuration. */
const NEEDED = new Set([
  'FOYER_DATABASE_URL',
  'FOYER_REDIS_URL',
  'FOYER_OBJECTS_URL',
  'FOYER_KEYS_FILE',
  'FOYER_SETTINGS',
  'FOYER_LOG_LEVEL',
  'FOYER_CLUSTER_NETWORKS',
  'FOYER_LIVE_NETWORKS',
  'FOYER_POD',
  'FOYER_NODE',
]);
/** Volume of the key ring, which opens the addresses of channels. */
const KEYS = 'keys';

interface Of {
  namespace: string;
  server: { name: string };
}

/**
 * As the server's workers have them. So a tuner follows a change of a store when the roll-out of the server does, and has the stores that
 * the server uses until then. Without workers, as its own pod had them.
 */
export function storesOf(kube: Reader, { namespace, server }: Of, own: string) {
  const workers = storesIn(kube.get('Deployment', namespace, `${server.name}-workers`));
  return workers ?? storesIn(kube.get('Deployment', namespace, own));
}

function storesIn(deployment: KubeObject | undefined): Stores | undefined {
  const { volumes = [], container } = podIn(deployment);
  const env = (container?.env ?? []).filter(({ name }) => NEEDED.has(name));
  if (!env.some(({ name }) => name === 'FOYER_DATABASE_URL')) return undefined;
  const isKeys = ({ name }: { name: string }): boolean => name === KEYS;
  return { env, volumes: volumes.filter(isKeys), mounts: (container?.volumeMounts ?? []).filter(isKeys) };
}

/** Of a Deployment of this operator. */
function podIn(deployment: KubeObject | undefined) {
  const { template } = (deployment?.spec ?? {}) as { template?: PodTemplate };
  return { volumes: template?.spec?.volumes, container: template?.spec?.containers[0] };
}

/** The id of the tuner in the environment of a Deployment of this operator. */
export const rowIn = (deployment: KubeObject | undefined): string | undefined =>
  podIn(deployment).container?.env?.find(({ name }) => name === 'FOYER_TUNER_ID')?.value;

// Why pods do not become ready, as messages that say how to fix it.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { ContainerStatus, PodStatus } from '../runtime/manifest.ts';
import type { Reason } from '../schemas/conditions.ts';
import { selectorOf } from './desired/meta.ts';
import type { Server } from './server.ts';

export interface Trouble {
  reason: Reason;
  message: string;
}

/** Input in addition to the pod's own status. */
export interface PodContext {
  now: Date;
  /** The newest warning message, by the uid of the pod. */
  warnings: ReadonlyMap<string, string>;
}

const IMAGE = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];
const CREATING = ['ContainerCreating', 'PodInitializing'];
const MOUNT = /mount|attach|volume/i;
/** A new pod may wait this long for a node or for its volumes. */
const GRACE_MS = 60_000;

const INSTALLED = "the default is that of the operator's Deployment";
/** The spec fields that determine the image of each component. */
const IMAGE_FIELDS: Record<string, string> = {
  postgres: `spec.postgres.managed.image names it, else spec.registry its registry; ${INSTALLED}`,
  redis: `spec.redis.managed.image names it, else spec.registry its registry; ${INSTALLED}`,
  objects: `spec.objects.managed.image names it, else spec.registry its registry; ${INSTALLED}`,
  subtitles: `spec.subtitles.image names it, else it is the image of all components with -subtitles after its name; ${INSTALLED}`,
};
const MODEL_TROUBLE = /^(ModelMissing|ModelInvalid|ObjectsUnreachable): (.+)$/s;

/**
 * The init container that brings a model ends with the reason as its termination message. Its next run waits for a change, so
 * the message holds until a run succeeds.
 */
function modelTrouble({ metadata }: KubeObject, { name, state, lastState }: ContainerStatus): Trouble | undefined {
  const ended = state?.terminated ?? lastState?.terminated;
  if (name !== 'model' || !ended?.message) return undefined; // a run that succeeds has no message
  const [, reason, message] = MODEL_TROUBLE.exec(ended.message) ?? [];
  return reason ? { reason: reason as Reason, message: `pod ${metadata.name}: ${message}` } : undefined;
}

const PRODUCT = `spec.image and spec.version name it, spec.registry its registry; ${INSTALLED}`;

function imageTrouble({ metadata }: KubeObject, { image, state }: ContainerStatus): Trouble {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const where = IMAGE_FIELDS[metadata.labels?.['app.kubernetes.io/component'] ?? ''] ?? PRODUCT;
  const what = `pod ${metadata.name} cannot pull image ${image}: ${message || reason}`;
  return {
    reason: 'ImageUnavailable',
    message: `${what}: ${where}; spec.imagePullSecrets holds the credentials of a registry`,
  };
}

function waitingTrouble(pod: KubeObject, container: ContainerStatus): Trouble | undefined {
  const { name } = pod.metadata;
  const { reason = '', message = '' } = container.state?.waiting ?? {};
  if (IMAGE.includes(reason)) return imageTrouble(pod, container);
  if (reason === 'CreateContainerConfigError')
    return { reason: 'SecretInvalid', message: `pod ${name}: ${message || reason}` };
  if (reason !== 'CrashLoopBackOff') return undefined;
  return {
    reason: 'CrashLooping',
    message: `pod ${name} restarted ${container.restartCount} times: kubectl logs -p ${name}`,
  };
}

/** True when the time is more than the grace period ago, or unknown. */
const isPastGrace = (since: string | undefined, now: Date | undefined): boolean =>
  now === undefined || since === undefined || now.getTime() - Date.parse(since) >= GRACE_MS;

function unschedulable(
  { metadata: { name } }: KubeObject,
  conditions: readonly StatusCondition[],
  now?: Date,
): Trouble | undefined {
  const found = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (!found || !isPastGrace(found.lastTransitionTime, now)) return undefined;
  return { reason: 'Unschedulable', message: `pod ${name} is unschedulable: ${found.message ?? ''}` };
}

/** Volumes are mounted before the first container starts. */
const hasStarted = ({ state }: ContainerStatus): boolean => Boolean(state?.running ?? state?.terminated);

/** Kubelet reports only in Events why it does not start a container. */
function notStarted(
  { metadata }: KubeObject,
  containers: ContainerStatus[],
  context?: PodContext,
): Trouble | undefined {
  const words = context?.warnings.get(metadata.uid ?? '');
  const waits = containers.some(({ state }) => CREATING.includes(state?.waiting?.reason ?? ''));
  if (words === undefined || !waits || !isPastGrace(metadata.creationTimestamp, context?.now)) return undefined;
  const reason = MOUNT.test(words) ? 'VolumeNotMounted' : 'Refused';
  return { reason, message: `pod ${metadata.name} cannot start: ${words}` };
}

/** The trouble of one pod. Without `around` no grace period applies. */
export function podTrouble(pod: KubeObject, context?: PodContext): Trouble | undefined {
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = (pod.status ?? {}) as PodStatus;
  const containers = [...initContainerStatuses, ...containerStatuses];
  const troubles = containers.map((container) => modelTrouble(pod, container) ?? waitingTrouble(pod, container));
  const waiting = troubles.find((found) => found !== undefined);
  return (
    unschedulable(pod, conditions, context?.now) ??
    waiting ??
    (initContainerStatuses.some(hasStarted) ? undefined : notStarted(pod, containers, context))
  );
}

/** The number of container restarts. */
export function restartsOf({ status }: KubeObject): number {
  const { containerStatuses = [] } = (status ?? {}) as PodStatus;
  return containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** The pods of a component. */
export function podsOf(server: Server, component: string, pods: readonly KubeObject[]): KubeObject[] {
  const labels = Object.entries({ ...selectorOf(server), 'app.kubernetes.io/component': component });
  return pods.filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
}

/** The trouble of the first pod of a component that has one. */
export function troubleIn(
  server: Server,
  component: string,
  observed: PodContext & { pods: readonly KubeObject[] },
): Trouble | undefined {
  for (const pod of podsOf(server, component, observed.pods)) {
    const trouble = podTrouble(pod, observed);
    if (trouble) return trouble;
  }
  return undefined;
}

// Why pods do not become ready, in words that say what to do.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { Reason } from '../schemas/conditions.ts';
import { selectorOf } from './desired/meta.ts';
import type { Server } from './server.ts';

export interface Trouble {
  reason: Reason;
  message: string;
}

/** What a pod is judged by beside its own status. */
export interface Around {
  now: Date;
  /** Newest words of warnings about pods, by their uid. */
  warnings: ReadonlyMap<string, string>;
}

interface ContainerStatus {
  restartCount: number;
  image?: string;
  state?: { waiting?: { reason?: string; message?: string }; running?: object; terminated?: object };
}

interface PodStatus {
  conditions?: StatusCondition[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

const IMAGE = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];
const CREATING = ['ContainerCreating', 'PodInitializing'];
const MOUNT = /mount|attach|volume/i;
/** A pod that just came may wait so long for a node, or for its volumes: both take a moment in the ordinary course. */
const GRACE_MS = 60_000;

const INSTALLED = "the default is that of the operator's Deployment";
/** Where the image of each component comes from. */
const IMAGE_FIELDS: Record<string, string> = {
  postgres: `spec.postgres.managed.image names it, else spec.registry its registry; ${INSTALLED}`,
  redis: `spec.redis.managed.image names it, else spec.registry its registry; ${INSTALLED}`,
  objects: `spec.objects.managed.image names it, else spec.registry its registry; ${INSTALLED}`,
};
const PRODUCT = `spec.image and spec.version name it, spec.registry its registry; ${INSTALLED}`;

function imageTrouble({ metadata }: KubeObject, { image = '', state }: ContainerStatus): Trouble {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const where = IMAGE_FIELDS[metadata.labels?.['app.kubernetes.io/component'] ?? ''] ?? PRODUCT;
  const what = `pod ${metadata.name} cannot get image ${image}: ${message || reason}`;
  return { reason: 'ImageUnavailable', message: `${what}: ${where}; spec.imagePullSecrets open a registry` };
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
    message: `pod ${name} ended ${container.restartCount} times: kubectl logs -p ${name}`,
  };
}

/** Longer ago than a moment; a time that is not told is long ago. */
const isOld = (since: string | undefined, now: Date | undefined): boolean =>
  now === undefined || since === undefined || now.getTime() - Date.parse(since) >= GRACE_MS;

function unplaced({ metadata: { name } }: KubeObject, conditions: StatusCondition[], now?: Date): Trouble | undefined {
  const found = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (!found || !isOld(found.lastTransitionTime, now)) return undefined;
  return { reason: 'Unschedulable', message: `pod ${name} waits for a node: ${found.message ?? ''}` };
}

/** Volumes are mounted before the first container starts. */
const hasBegun = ({ state }: ContainerStatus): boolean => Boolean(state?.running ?? state?.terminated);

/** Kubelet tells in Events alone why it does not start a container. */
function unmounted({ metadata }: KubeObject, containers: ContainerStatus[], around?: Around): Trouble | undefined {
  const words = around?.warnings.get(metadata.uid ?? '');
  const waits = containers.some(({ state }) => CREATING.includes(state?.waiting?.reason ?? ''));
  if (words === undefined || !waits || !isOld(metadata.creationTimestamp, around?.now)) return undefined;
  const reason = MOUNT.test(words) ? 'VolumeNotMounted' : 'Refused';
  return { reason, message: `pod ${metadata.name} cannot start: ${words}` };
}

/** Of one pod. Without what is around it, nothing is put down to its having just come. */
export function podTrouble(pod: KubeObject, around?: Around): Trouble | undefined {
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = (pod.status ?? {}) as PodStatus;
  const containers = [...initContainerStatuses, ...containerStatuses];
  const waiting = containers.map((container) => waitingTrouble(pod, container)).find((found) => found !== undefined);
  return (
    unplaced(pod, conditions, around?.now) ??
    waiting ??
    (initContainerStatuses.some(hasBegun) ? undefined : unmounted(pod, containers, around))
  );
}

/** How often a container of the pod was started again. */
export function restartsOf({ status }: KubeObject): number {
  const { containerStatuses = [] } = (status ?? {}) as PodStatus;
  return containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** The pods of a component. */
export function podsOf(server: Server, component: string, pods: readonly KubeObject[]): KubeObject[] {
  const labels = Object.entries({ ...selectorOf(server), 'app.kubernetes.io/component': component });
  return pods.filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
}

/** The first trouble among the pods of a component. */
export function troubleIn(
  server: Server,
  component: string,
  seen: Around & { pods: readonly KubeObject[] },
): Trouble | undefined {
  for (const pod of podsOf(server, component, seen.pods)) {
    const trouble = podTrouble(pod, seen);
    if (trouble) return trouble;
  }
  return undefined;
}

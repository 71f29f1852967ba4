// Why pods do not become ready, in words that say what to do.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { Reason } from '../schemas/conditions.ts';
import { selectorOf } from './desired/meta.ts';
import type { Server } from './server.ts';

export interface Trouble {
  reason: Reason;
  message: string;
}

interface ContainerStatus {
  restartCount: number;
  state?: { waiting?: { reason?: string; message?: string } };
}

interface PodStatus {
  conditions?: StatusCondition[];
  containerStatuses?: ContainerStatus[];
}

const IMAGE = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];
const checkImage = 'check spec.image, spec.version and spec.imagePullSecrets';

function waitingTrouble(pod: string, { state, restartCount }: ContainerStatus): Trouble | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (IMAGE.includes(reason)) return { reason: 'ImageUnavailable', message: `pod ${pod}: ${reason}: ${checkImage}` };
  if (reason === 'CreateContainerConfigError')
    return { reason: 'SecretInvalid', message: `pod ${pod}: ${message || reason}` };
  if (reason !== 'CrashLoopBackOff') return undefined;
  return { reason: 'CrashLooping', message: `pod ${pod} ended ${restartCount} times: kubectl logs -p ${pod}` };
}

/** Of one pod. */
export function podTrouble({ metadata, status }: KubeObject): Trouble | undefined {
  const { conditions = [], containerStatuses = [] } = (status ?? {}) as PodStatus;
  const unplaced = conditions.find(({ type, status: placed }) => type === 'PodScheduled' && placed === 'False');
  const { name } = metadata;
  if (unplaced) return { reason: 'Unschedulable', message: `pod ${name} waits for a node: ${unplaced.message}` };
  return containerStatuses.map((container) => waitingTrouble(name, container)).find((trouble) => trouble !== undefined);
}

/** The first trouble among the pods of a component. */
export function troubleIn(server: Server, component: string, pods: readonly KubeObject[]): Trouble | undefined {
  const labels = Object.entries({ ...selectorOf(server), 'app.kubernetes.io/component': component });
  const own = pods.filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
  for (const pod of own) {
    const trouble = podTrouble(pod);
    if (trouble) return trouble;
  }
  return undefined;
}

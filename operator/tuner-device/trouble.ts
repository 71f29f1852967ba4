// Why the pod of a tuner is not ready. Pure.

import { trueCondition } from '../media-server/observed.ts';
import { podTrouble, type Trouble } from '../media-server/pod-trouble.ts';
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';

const made = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? '';

/** For a Deployment without a ready pod, from its newest pod that is not being deleted. */
export function tunerTrouble(deployment: KubeObject | undefined, pods: readonly KubeObject[]): Trouble {
  const own = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const [newest] = own.toSorted((one, other) => (made(one) > made(other) ? -1 : 1));
  const failure = trueCondition(deployment, 'ReplicaFailure');
  if (!newest && failure)
    return { reason: 'Refused', message: `no pod of the tuner can be created: ${failure.message}` };
  if (!newest) return { reason: 'Starting', message: 'the pod of the tuner does not exist yet' };
  return podTrouble(newest) ?? { reason: isOverdue(deployment) ? DEADLINE : 'Starting', message: waiting(newest) };
}

const DEADLINE = 'ProgressDeadlineExceeded';

/** The pod did not become ready within progressDeadlineSeconds. */
function isOverdue(deployment: KubeObject | undefined): boolean {
  const { conditions = [] } = (deployment?.status ?? {}) as { conditions?: StatusCondition[] };
  return conditions.some(({ reason, status }) => reason === DEADLINE && status === 'False');
}

function waiting({ metadata: { name }, status }: KubeObject): string {
  const { phase = 'Pending' } = (status ?? {}) as { phase?: string };
  const what = phase === 'Running' ? 'is running and not ready yet' : `is ${phase}`;
  return `pod ${name} ${what}: kubectl describe pod ${name}`;
}

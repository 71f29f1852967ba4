// Why the pod of a tuner is not ready. Pure.

import { holding } from '../media-server/observed.ts';
import { podTrouble, type Trouble } from '../media-server/pod-trouble.ts';
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';

const made = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? '';

/** Of a Deployment without a ready pod; the newest of its pods that is not on its way out tells. */
export function tunerTrouble(deployment: KubeObject | undefined, pods: readonly KubeObject[]): Trouble {
  const own = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const [newest] = own.toSorted((one, other) => (made(one) > made(other) ? -1 : 1));
  const failure = holding(deployment, 'ReplicaFailure');
  if (!newest && failure) return { reason: 'Refused', message: `no pod of the tuner can be made: ${failure.message}` };
  if (!newest) return { reason: 'Starting', message: 'the pod of the tuner is not made yet' };
  return podTrouble(newest) ?? { reason: isOverdue(deployment) ? DEADLINE : 'Starting', message: waiting(newest) };
}

const DEADLINE = 'ProgressDeadlineExceeded';

/** Its pod did not become ready in the time that a roll-out may take. */
function isOverdue(deployment: KubeObject | undefined): boolean {
  const { conditions = [] } = (deployment?.status ?? {}) as { conditions?: StatusCondition[] };
  return conditions.some(({ reason, status }) => reason === DEADLINE && status === 'False');
}

function waiting({ metadata: { name }, status }: KubeObject): string {
  const { phase = 'Pending' } = (status ?? {}) as { phase?: string };
  const what = phase === 'Running' ? 'runs and is not ready yet' : `is ${phase}`;
  return `pod ${name} ${what}: kubectl describe pod ${name}`;
}

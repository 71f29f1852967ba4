// Distinguishes starting workloads from unavailable ones. Pure.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { Observed } from './observed.ts';
import { podsOf, restartsOf } from './pod-trouble.ts';
import type { Server } from './server.ts';

/** Time in which a workload counts as starting; after it, a missing pod is a fault. */
const START_MS = 5 * 60_000;

const isYoung = ({ metadata }: KubeObject, { now }: Pick<Observed, 'now'>): boolean =>
  metadata.creationTimestamp === undefined || now.getTime() - Date.parse(metadata.creationTimestamp) < START_MS;

/** True for a Deployment that has been unavailable for this long. Pods that are replaced repeatedly are always young. */
function isLongUnavailable(workload: KubeObject | undefined, { now }: Pick<Observed, 'now'>): boolean {
  const { conditions = [] } = (workload?.status ?? {}) as { conditions?: StatusCondition[] };
  const since = conditions.find(({ type, status }) => type === 'Available' && status === 'False')?.lastTransitionTime;
  return since !== undefined && now.getTime() - Date.parse(since) >= START_MS;
}

/** True while a pod is new, or while a new workload has no pod yet. */
export function justStarts(workload: KubeObject | undefined, pods: readonly KubeObject[], observed: Observed): boolean {
  if (isLongUnavailable(workload, observed)) return false;
  if (pods.length > 0) return pods.some((pod) => isYoung(pod, observed) && restartsOf(pod) === 0);
  return !workload || isYoung(workload, observed);
}

/** The verdict on a Deployment without a ready pod: it is starting, or unavailable. */
export function notAvailable(
  object: KubeObject,
  { server, observed }: { server: Server; observed: Observed },
): Omit<Verdict, 'type'> {
  const { name, labels } = object.metadata;
  const pods = podsOf(server, labels?.['app.kubernetes.io/component'] ?? '', observed.pods);
  const status = 'False';
  if (justStarts(object, pods, observed))
    return { status, reason: 'Starting', message: `no pod of Deployment ${name} is ready yet` };
  const message = `no pod of Deployment ${name} is ready: kubectl describe deployment ${name}`;
  return { status, reason: 'Unavailable', message };
}

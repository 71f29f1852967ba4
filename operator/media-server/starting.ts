// What has just come, and what is wrong because it should be ready by now. Pure.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { Verdict } from '../schemas/conditions.ts';
import type { Seen } from './observed.ts';
import { podsOf, restartsOf } from './pod-trouble.ts';
import type { Server } from './server.ts';

/** What is not ready starts for so long at most; then something is wrong with it. */
const START_MS = 5 * 60_000;

const isYoung = ({ metadata }: KubeObject, { now }: Pick<Seen, 'now'>): boolean =>
  metadata.creationTimestamp === undefined || now.getTime() - Date.parse(metadata.creationTimestamp) < START_MS;

/** Of a Deployment that has had too few ready pods for so long: a pod that is replaced again and again is always young. */
function isLongAway(workload: KubeObject | undefined, { now }: Pick<Seen, 'now'>): boolean {
  const { conditions = [] } = (workload?.status ?? {}) as { conditions?: StatusCondition[] };
  const since = conditions.find(({ type, status }) => type === 'Available' && status === 'False')?.lastTransitionTime;
  return since !== undefined && now.getTime() - Date.parse(since) >= START_MS;
}

/** One of its pods came a moment ago; or none is there yet of a workload that came a moment ago. */
export function justStarts(workload: KubeObject | undefined, pods: readonly KubeObject[], seen: Seen): boolean {
  if (isLongAway(workload, seen)) return false;
  if (pods.length > 0) return pods.some((pod) => isYoung(pod, seen) && restartsOf(pod) === 0);
  return !workload || isYoung(workload, seen);
}

/** Of a Deployment without a ready pod: it starts, or something is wrong with it. */
export function notAvailable(
  object: KubeObject,
  { server, seen }: { server: Server; seen: Seen },
): Omit<Verdict, 'type'> {
  const { name, labels } = object.metadata;
  const pods = podsOf(server, labels?.['app.kubernetes.io/component'] ?? '', seen.pods);
  const status = 'False';
  if (justStarts(object, pods, seen))
    return { status, reason: 'Starting', message: `no pod of Deployment ${name} is ready yet` };
  const message = `no pod of Deployment ${name} is ready: kubectl describe deployment ${name}`;
  return { status, reason: 'Unavailable', message };
}

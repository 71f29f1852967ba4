// Decides how many speech workers run, and whether they use the GPU. Pure.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { PodSpec } from '../runtime/manifest.ts';
import { speechReplicas } from '../speech/reports.ts';
import type { SpeechPlan } from './desired/context.ts';
import { nameOf } from './desired/meta.ts';
import { childOf, type Observed, trueCondition } from './observed.ts';
import { podsOf } from './pod-trouble.ts';
import type { Server } from './server.ts';
import { FALLBACK, unschedulable } from './transcode-jobs.ts';
import { FALLBACK_AFTER_MS, RETRY_AFTER_MS } from './transcode-pool.ts';

export function planSpeech(server: Server, observed: Observed): SpeechPlan {
  const { subtitles } = server.spec;
  if (!subtitles) return { replicas: 0, fallback: undefined };
  const live = childOf(observed, 'Deployment', nameOf(server, 'subtitles'));
  const replicas = speechReplicas(subtitles, observed.speech, replicasOf(live));
  return { replicas, fallback: fallbackOf(server, observed, { live, replicas }) };
}

const replicasOf = (object: KubeObject | undefined): number =>
  (object?.spec as { replicas?: number } | undefined)?.replicas ?? 0;

interface Now {
  live: KubeObject | undefined;
  replicas: number;
}

/** The GPU is tried again by the next worker after none ran, and after half an hour by one that has nothing to do. */
function fallbackOf(server: Server, observed: Observed, { live, replicas }: Now): string | undefined {
  const { accelerator } = server.spec.subtitles ?? {};
  if (!accelerator) return undefined;
  const before = live?.metadata.annotations?.[FALLBACK];
  if (before === undefined) return isStarved(server, observed, live) ? observed.now.toISOString() : undefined;
  const isOld = observed.now.getTime() - Date.parse(before) >= RETRY_AFTER_MS;
  const retries = replicas === 0 || (isOld && observed.speech.waiting === 0);
  return retries ? undefined : before;
}

/** No pod has a GPU, and one has waited ten seconds for it, for a node or for quota. */
function isStarved(server: Server, observed: Observed, live: KubeObject | undefined): boolean {
  const resource = server.spec.subtitles?.accelerator?.resourceName ?? '';
  const pods = podsOf(server, 'subtitles', observed.pods).filter((pod) => requests(pod, resource));
  const age = (since: string | undefined): number => observed.now.getTime() - Date.parse(since ?? '');
  const waits = (pod: KubeObject): boolean =>
    !pod.metadata.deletionTimestamp &&
    unschedulable(pod) !== undefined &&
    age(pod.metadata.creationTimestamp) >= FALLBACK_AFTER_MS;
  if (pods.length > 0) return pods.every((pod) => unschedulable(pod) !== undefined) && pods.some(waits);
  const refused: StatusCondition | undefined = trueCondition(live, 'ReplicaFailure');
  return refused?.message?.includes(resource) === true && age(refused.lastTransitionTime) >= FALLBACK_AFTER_MS;
}

/** The pod requires the extended resource. */
export const requests = ({ spec }: KubeObject, resource: string): boolean =>
  (spec as PodSpec | undefined)?.containers?.some(({ resources }) => resources?.limits?.[resource] !== undefined) ??
  false;

// The observed state of a pass. Plain data, so that all later steps are pure.

import type { ObservedDeclared } from '../declared/bodies.ts';
import type { ObservedBuckets } from '../declared/buckets.ts';
import type { ObservedApi } from '../observed-api.ts';
import type { ConfigMaps } from '../plus-environment.ts';
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import type { ObservedPlus } from '../server-api/plus.ts';
import type { ObservedSettings } from '../server-api/settings.ts';
import type { Secrets } from '../server-environment.ts';
import type { ObservedSpeech } from '../speech/reports.ts';
import type { Sharing } from './desired/one-node.ts';
import type { Release } from './release.ts';
import type { ObservedVolume } from './store-volumes.ts';
import type { PoolDemand } from './transcode-pool.ts';

export interface Observed {
  now: Date;
  /** Secrets that the resource references and those created for it, decoded. */
  secrets: Secrets;
  /** Annotations of the Secrets, by name. */
  notes: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** ConfigMaps that the resource references. */
  configMaps: ConfigMaps;
  /** Existing claims of media, models and managed stores, and how widely each can be mounted. */
  claims: ReadonlyMap<string, Sharing>;
  /** Children by kind and name, such as `Deployment/home-api`. */
  children: ReadonlyMap<string, KubeObject>;
  /** Pods of all components. */
  pods: readonly KubeObject[];
  /** Why no pod can be created, by the uid of its Job or StatefulSet. */
  refusals: ReadonlyMap<string, string>;
  /** Why kubelet does not start a pod, by the uid of the pod. */
  warnings: ReadonlyMap<string, string>;
  /** Optional kinds that this API server serves. */
  served: ReadonlySet<string>;
  release: Release | undefined;
  /** Status fields of earlier passes. */
  known: Pick<MediaServerStatus, 'serverId' | 'replacedSecrets' | 'upgradingTo'>;
  libraries: number;
  tuners: number;
  api: ObservedApi;
  /** Undefined while the server does not report it. */
  demand: PoolDemand | undefined;
  /** Volumes of managed stores, as far as the server reports them. */
  volumes: readonly ObservedVolume[];
  /** Running transcode pods that have not reported for minutes. */
  silent: ReadonlySet<string>;
  speech: ObservedSpeech;
  /** Undefined while the server does not report it. */
  plus: ObservedPlus | undefined;
  /** Likewise, and only when the resource declares settings. */
  settings: ObservedSettings | undefined;
  /** Result of spec.declared; undefined before the first pass. */
  declared: ObservedDeclared | undefined;
  /** Storages of spec.media[].s3; undefined before the first pass. */
  buckets: ObservedBuckets | undefined;
}

export const childOf = ({ children }: Observed, kind: string, name: string): KubeObject | undefined =>
  children.get(`${kind}/${name}`);

export const childrenOf = ({ children }: Observed, kind: string): KubeObject[] =>
  [...children].filter(([key]) => key.startsWith(`${kind}/`)).map(([, object]) => object);

/** The condition of an object, if it is True. */
export function trueCondition(object: KubeObject | undefined, type: string): StatusCondition | undefined {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: StatusCondition[] };
  return conditions.find((condition) => condition.type === type && condition.status === 'True');
}

export interface Workload {
  /** Desired replicas; an autoscaler may have changed them. */
  desired: number;
  total: number;
  ready: number;
  /** All pods are ready and have the newest template, and no older pod remains. */
  settled: boolean;
}

interface WorkloadStatus {
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  observedGeneration?: number;
}

/** The Deployment of the speech workers. The server is whole without them: a roll-out does not wait for their model. */
export const isSpeech = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.['app.kubernetes.io/component'] === 'subtitles';

/** A Deployment or a StatefulSet. */
export function workloadOf(object: KubeObject): Workload {
  const { replicas: desired = 1 } = object.spec as { replicas?: number };
  const status: WorkloadStatus = object.status ?? {};
  const number = (name: keyof WorkloadStatus): number => status[name] ?? 0;
  const [total, ready] = [number('replicas'), number('readyReplicas')];
  const isObserved = number('observedGeneration') >= (object.metadata.generation ?? 0);
  const isServing = ready === desired || isSpeech(object);
  const current = total === desired && number('updatedReplicas') === desired && isServing;
  return { desired, total, ready, settled: isObserved && current };
}

// What a pass sees: plain data, so that everything after it is pure.

import type { ObservedDeclared } from '../declared/bodies.ts';
import type { ObservedApi } from '../observed-api.ts';
import type { ConfigMaps } from '../plus-environment.ts';
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import type { ObservedPlus } from '../server-api/plus.ts';
import type { ObservedSettings } from '../server-api/settings.ts';
import type { Secrets } from '../server-environment.ts';
import type { Sharing } from './desired/one-node.ts';
import type { Release } from './release.ts';
import type { ObservedVolume } from './store-volumes.ts';
import type { PoolDemand } from './transcode-pool.ts';

export interface Seen {
  now: Date;
  /** Those that the resource names and those made for it, decoded. */
  secrets: Secrets;
  /** Annotations of the Secrets made for it, by name. */
  notes: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Those that the resource names. */
  configMaps: ConfigMaps;
  /** Claims that exist, of those that the resource names and those of managed stores, and who may mount them. */
  claims: ReadonlyMap<string, Sharing>;
  /** Children by kind and name, such as `Deployment/home-api`. */
  children: ReadonlyMap<string, KubeObject>;
  /** Of all components. */
  pods: readonly KubeObject[];
  /** Why no pod can be made, by the uid of the Job or StatefulSet that should have it. */
  refusals: ReadonlyMap<string, string>;
  /** Why kubelet does not start a pod, by its uid. */
  warnings: ReadonlyMap<string, string>;
  /** Kinds that may be absent and that this API server knows. */
  served: ReadonlySet<string>;
  release: Release | undefined;
  /** What the status says of earlier passes. */
  known: Pick<MediaServerStatus, 'serverId' | 'replacedSecrets' | 'upgradingTo'>;
  libraries: number;
  tuners: number;
  api: ObservedApi;
  /** Undefined while the server does not tell. */
  demand: PoolDemand | undefined;
  /** Of managed stores, as far as the server reports them. */
  volumes: readonly ObservedVolume[];
  /** Transcode pods that run and did not report for minutes. */
  silent: ReadonlySet<string>;
  /** Likewise. */
  plus: ObservedPlus | undefined;
  /** Likewise, and only where the resource declares some. */
  settings: ObservedSettings | undefined;
  /** What came of spec.declared; undefined while the server was not asked. */
  declared: ObservedDeclared | undefined;
}

export const childOf = ({ children }: Seen, kind: string, name: string): KubeObject | undefined =>
  children.get(`${kind}/${name}`);

export const childrenOf = ({ children }: Seen, kind: string): KubeObject[] =>
  [...children].filter(([key]) => key.startsWith(`${kind}/`)).map(([, object]) => object);

/** The condition of a child, where it holds. */
export function holding(object: KubeObject | undefined, type: string): StatusCondition | undefined {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: StatusCondition[] };
  return conditions.find((condition) => condition.type === type && condition.status === 'True');
}

export interface Workload {
  /** Wanted now, which an autoscaler may have changed. */
  wanted: number;
  total: number;
  ready: number;
  /** Every pod is of the newest template and ready, and none of another is left. */
  settled: boolean;
}

interface WorkloadStatus {
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  observedGeneration?: number;
}

/** A Deployment or a StatefulSet. */
export function workloadOf(object: KubeObject): Workload {
  const { replicas: wanted = 1 } = object.spec as { replicas?: number };
  const status: WorkloadStatus = object.status ?? {};
  const number = (name: keyof WorkloadStatus): number => status[name] ?? 0;
  const [total, ready] = [number('replicas'), number('readyReplicas')];
  const looked = number('observedGeneration') >= (object.metadata.generation ?? 0);
  const current = total === wanted && number('updatedReplicas') === wanted && ready === wanted;
  return { wanted, total, ready, settled: looked && current };
}

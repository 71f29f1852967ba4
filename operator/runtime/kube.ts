// What controllers see of the API server: caches to read, and the few ways to write.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  deletionTimestamp?: string;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  creationTimestamp?: string;
}

/** Plain JSON, as the API server spells it. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [member: string]: unknown;
}

/** One of `status.conditions`, of any kind. */
export interface StatusCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** Names an object of a controller's kind. */
export interface Key {
  namespace: string;
  name: string;
}

/** Caches only, synchronous. Objects are shared: never change what comes back. */
export interface Reader {
  get(kind: string, namespace: string, name: string): KubeObject | undefined;
  /** An empty namespace is all that are watched. */
  list(kind: string, namespace: string, labels?: Record<string, string>): readonly KubeObject[];
  /** Does this API server know the kind (ServiceMonitor, HTTPRoute, Cluster of CloudNativePG ...), among those watched. */
  served(kind: string): boolean;
}

/** What one apply sent; empty lists are a pass without a write. */
export interface Applied {
  written: readonly KubeObject[];
  pruned: readonly KubeObject[];
}

export interface ReportedEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** Whether children go that are not wanted; or the uids of those that may. */
export type Prune = boolean | ReadonlySet<string>;

export interface Kube extends Reader {
  /** A resource needs this kind, which is not served: it is looked for more often. */
  seek(kind: string): void;
  /**
   * Server-side apply of what differs (hash annotation `foyer.media/applied`, and drift in the fields we own), under field
   * manager `foyer`, as controlled children of owner. Prunes children (label foyer.media/owner=<uid>) that are no longer
   * desired, never those annotated foyer.media/keep, none while the owner seen is not the newest
   * or `prune` is false, and only those of the uids that `prune` holds: what came since is not judged.
   * Throws what the API server refuses.
   */
  apply(owner: KubeObject, desired: readonly KubeObject[], how?: { prune?: Prune }): Promise<Applied>;
  /** True when it was written; no call when equal. observedGeneration is the caller's to set. */
  applyStatus(object: KubeObject, status: object): Promise<boolean>;
  /** In the background, and only that uid when it is given; an object that is gone already is no fault. */
  remove(object: { kind: string; namespace: string; name: string; uid?: string }): Promise<void>;
  /** The finalizer `foyer.media/release`. */
  setFinalizer(object: KubeObject, present: boolean): Promise<void>;
  /** Aggregated and rate-limited (10 a minute and object); never fails the caller. */
  event(about: KubeObject, event: ReportedEvent): void;
}

/** A kind whose objects are cached, and whose changes ask for a pass. */
export interface Watch {
  apiVersion: string;
  kind: string;
  /** Objects of the controller's kind that a change concerns. Default: the object itself, or its controlling owner of that kind. */
  keys?(object: KubeObject, reader: Reader): readonly Key[];
  /** Only objects with these labels are cached; all watches of one kind must agree. */
  labels?: Record<string, string>;
  /** Likewise of fields, as far as the API server selects by them. */
  fields?: Record<string, string>;
  /** The API server may not know the kind; it is watched from when it does. */
  optional?: boolean;
}

export interface Outcome {
  requeueAfterMs?: number;
}

export interface Controller {
  /** Watched without being listed in `watches`. */
  kind: string;
  /** In metrics and logs; default: the kind. */
  name?: string;
  watches: readonly Watch[];
  /** What asks for passes beside changes of the cluster is given the way to do so, once. */
  sources?(wake: (key: Key) => void): void;
  /** May throw: the kit backs off, 1 s doubling to 5 min. The object may be gone from the cache. */
  reconcile(key: Key, kube: Kube, now: Date): Promise<Outcome>;
}

/** Nothing but a change of the cluster mends it: no retry. The reconcile that throws it has set the condition. */
export class PermanentFault extends Error {}

export const FIELD_MANAGER = 'foyer';
export const APPLIED = 'foyer.media/applied';
export const KEEP = 'foyer.media/keep';
export const OWNER = 'foyer.media/owner';
export const FINALIZER = 'foyer.media/release';
export const GROUP_VERSION = 'foyer.media/v1alpha1';

/** Nothing to come back for but a change. */
export const done: Outcome = {};
export const after = (requeueAfterMs: number): Outcome => ({ requeueAfterMs });

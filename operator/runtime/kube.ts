// The API server as controllers use it: reads from caches, and a few kinds of writes.
import type { ObjectMeta } from './manifest.ts';

/** Plain JSON in the format of the API server. */
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
  reason?: string | undefined;
  message?: string | undefined;
  lastTransitionTime?: string | undefined;
}

/** Identifies an object of a controller's kind. */
export interface Key {
  namespace: string;
  name: string;
}

/** Reads from caches, synchronously. Objects are shared: never change them. */
export interface Reader {
  get(kind: string, namespace: string, name: string): KubeObject | undefined;
  /** An empty namespace means all watched ones. */
  list(kind: string, namespace: string, labels?: Record<string, string>): readonly KubeObject[];
  /** Whether this API server serves a watched kind (ServiceMonitor, HTTPRoute, Cluster of CloudNativePG ...). */
  served(kind: string): boolean;
}

/** The result of one apply; empty lists mean that nothing was written. */
export interface Applied {
  written: readonly KubeObject[];
  pruned: readonly KubeObject[];
}

export interface ReportedEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** Whether children that are not desired are deleted, or the uids of those that may be. */
export type Prune = boolean | ReadonlySet<string>;

export interface Kube extends Reader {
  /** A resource needs this kind, which is not served: check for it more often. */
  seek(kind: string): void;
  /**
   * Applies the differences by server-side apply (by the digest in `foyer.media/applied`, and drift in our fields) under the
   * field manager `foyer`, as controlled children of the owner. Prunes children (by the label foyer.media/owner) that are no
   * longer desired. It never prunes those annotated foyer.media/keep, and none while the owner in the cache is outdated or
   * `prune` is false. With uids in `prune` it prunes only those, so newer children stay. Throws errors of the API server.
   */
  apply(owner: KubeObject, desired: readonly KubeObject[], how?: { prune?: Prune }): Promise<Applied>;
  /** True when it was written; no request when equal. The caller sets observedGeneration. */
  applyStatus(object: KubeObject, status: object): Promise<boolean>;
  /** Deletes in the background; with a uid only that object. A missing object is no error. */
  remove(object: { kind: string; namespace: string; name: string; uid?: string }): Promise<void>;
  /** Sets or removes the finalizer `foyer.media/release`. */
  setFinalizer(object: KubeObject, present: boolean): Promise<void>;
  /** Aggregated and rate-limited (10 a minute per object); never fails the caller. */
  event(about: KubeObject, event: ReportedEvent): void;
}

/** A kind whose objects are cached, and whose changes trigger passes. */
export interface Watch {
  apiVersion: string;
  kind: string;
  /**
   * The objects of the controller's kind that a change triggers. Default: the object itself, or its controlling owner of that
   * kind.
   */
  keys?(object: KubeObject, reader: Reader): readonly Key[];
  /** Only objects with these labels are cached; all watches of one kind must have the same. */
  labels?: Record<string, string>;
  /** Likewise with fields, as far as the API server can select by them. */
  fields?: Record<string, string>;
  /** The API server may not serve the kind; the watch starts once it does. */
  optional?: boolean;
}

export interface Outcome {
  requeueAfterMs?: number;
}

export interface Controller {
  /** Always watched, even if it is not in `watches`. */
  kind: string;
  /** Name in metrics and logs; default: the kind. */
  name?: string;
  watches: readonly Watch[];
  /** Receives the function that triggers a pass, for triggers other than watches. Called once. */
  sources?(wake: (key: Key) => void): void;
  /** May throw: the pass is retried after 1 s, doubling up to 5 min. The object may be missing in the cache. */
  reconcile(key: Key, kube: Kube, now: Date): Promise<Outcome>;
}

/**
 * An error that only a change in the cluster can fix, so there is no retry. The reconcile that throws it has set the
 * condition.
 */
export class PermanentFault extends Error {}

export const FIELD_MANAGER = 'foyer';
export const APPLIED = 'foyer.media/applied';
export const KEEP = 'foyer.media/keep';
export const OWNER = 'foyer.media/owner';
export const FINALIZER = 'foyer.media/release';
export const GROUP_VERSION = 'foyer.media/v1alpha1';

/** No requeue: the next pass follows a change. */
export const done: Outcome = {};
export const after = (requeueAfterMs: number): Outcome => ({ requeueAfterMs });

// Kube for the controllers: reads from caches, and writes only differences.
import { Applier } from './apply.ts';
import type { Caches } from './caches.ts';
import { canonical } from './canonical.ts';
import type { EventRecorder } from './events.ts';
import { hasStatus } from './faults.ts';
import {
  type Applied,
  FIELD_MANAGER,
  FINALIZER,
  type Kube,
  type KubeObject,
  type Prune,
  type ReportedEvent,
} from './kube.ts';
import type { Metrics } from './metrics.ts';
import { APPLY_PATCH, MERGE_PATCH, type Rest } from './rest.ts';

export interface KubeDeps {
  rest: Rest;
  caches: Caches;
  metrics: Metrics;
  recorder: EventRecorder;
}

export class KubeClient implements Kube {
  readonly #deps: KubeDeps;
  readonly #applier: Applier;
  /** By uid, the status that we last sent, and the status that the object then had. */
  readonly #statuses = new Map<string, { sent: string; held: string }>();

  constructor(deps: KubeDeps) {
    this.#deps = deps;
    const drifted = (owner: KubeObject, { kind, metadata }: KubeObject, path: string): void => {
      const message = `${kind} ${metadata.name}: ${path} was changed by another client and is corrected`;
      this.event(owner, { type: 'Normal', reason: 'DriftCorrected', message });
    };
    this.#applier = new Applier({ ...deps, drifted });
  }

  get(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.#deps.caches.get(kind, namespace, name);
  }

  list(kind: string, namespace: string, labels?: Record<string, string>): readonly KubeObject[] {
    return this.#deps.caches.list(kind, namespace, labels);
  }

  served(kind: string): boolean {
    return this.#deps.caches.served(kind);
  }

  seek(kind: string): void {
    this.#deps.caches.seek(kind);
  }

  apply(owner: KubeObject, desired: readonly KubeObject[], how?: { prune?: Prune }): Promise<Applied> {
    return this.#applier.apply(owner, desired, how);
  }

  async applyStatus(object: KubeObject, status: object): Promise<boolean> {
    const { kind, metadata } = object;
    const { uid = '' } = metadata;
    const sent = canonical(status);
    const held = canonical(this.#newest(object).status ?? {});
    const before = this.#statuses.get(uid);
    if (sent === held || (before?.sent === sent && before.held === held)) return false;
    const answer = await this.#sendStatus(object, status);
    if (!answer) return false;
    this.#written(kind, 'status', answer);
    this.#remember(uid, { sent, held: canonical(answer.status ?? {}) });
    return true;
  }

  async remove(object: { kind: string; namespace: string; name: string; uid?: string }): Promise<void> {
    const { kind, namespace, name, uid } = object;
    await this.#applier.remove({ kind, metadata: { name, namespace, ...(uid !== undefined && { uid }) } });
  }

  async setFinalizer(object: KubeObject, present: boolean): Promise<void> {
    const { kind } = object;
    const { metadata } = this.#newest(object);
    const { name, namespace = '', finalizers: there = [], resourceVersion, uid } = metadata;
    if (there.includes(FINALIZER) === present) return;
    const finalizers = present ? [...there, FINALIZER] : there.filter((entry) => entry !== FINALIZER);
    const path = await this.#deps.caches.pathOf(kind, namespace, name);
    // With the version of the list: a concurrent change is not overwritten, but results in a 409.
    const body = { metadata: { finalizers, resourceVersion, uid } };
    const call = { method: 'PATCH' as const, path, body, contentType: MERGE_PATCH };
    const query = { fieldManager: FIELD_MANAGER };
    const answer = await this.#deps.rest.write<KubeObject>({ ...call, query }).catch(gone);
    if (answer) this.#written(kind, 'finalizer', answer);
  }

  event(about: KubeObject, event: ReportedEvent): void {
    this.#deps.recorder.record(about, event);
  }

  /** The cached object, if it has the same uid. */
  #newest(object: KubeObject): KubeObject {
    const { name, namespace = '', uid } = object.metadata;
    const newest = this.get(object.kind, namespace, name);
    return newest && newest.metadata.uid === uid ? newest : object;
  }

  async #sendStatus({ apiVersion, kind, metadata }: KubeObject, status: object): Promise<KubeObject | undefined> {
    const { name, namespace = '', uid } = metadata;
    const path = `${await this.#deps.caches.pathOf(kind, namespace, name)}/status`;
    const body = { apiVersion, kind, metadata: { name, namespace, uid }, status };
    const query = { fieldManager: FIELD_MANAGER, force: true };
    const call = { method: 'PATCH' as const, path, query, body, contentType: APPLY_PATCH };
    return this.#deps.rest.write<KubeObject>(call).catch(gone);
  }

  #written(kind: string, verb: string, answer: KubeObject): void {
    this.#deps.metrics.writes.inc({ kind, verb });
    // A deleted object without finalizers disappears: the watch reports it.
    const ends = answer.metadata.deletionTimestamp !== undefined && !answer.metadata.finalizers?.length;
    if (!ends) this.#deps.caches.of(kind).put(answer);
  }

  #remember(uid: string, status: { sent: string; held: string }): void {
    if (status.sent === status.held) this.#statuses.delete(uid);
    else this.#statuses.set(uid, status);
  }
}

/** The object was deleted meanwhile. */
function gone(error: unknown): undefined {
  if (!hasStatus(error, 404)) throw error;
}

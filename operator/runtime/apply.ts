// Applies the desired children of an object, without a request for those that match already.

import type { Caches } from './caches.ts';
import { canonical, digest } from './canonical.ts';
import { driftOf, owned } from './drift.ts';
import { hasStatus, StaleCache } from './faults.ts';
import { HANDED_OVER, handOverOf, leavesReplicas } from './hand-over.ts';
import {
  APPLIED,
  type Applied,
  FIELD_MANAGER,
  KEEP,
  type KubeObject,
  OWNER,
  PermanentFault,
  type Prune,
} from './kube.ts';
import type { OwnerReference } from './manifest.ts';
import type { Metrics } from './metrics.ts';
import { APPLY_PATCH, type Rest } from './rest.ts';
import { listAll } from './watch-stream.ts';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
/** Runs once: it must not be started for an outdated resource. */
const ONCE = 'Job';
/** May contain values that exist nowhere else. */
const VALUES = 'Secret';

export interface ApplyDeps {
  rest: Rest;
  caches: Caches;
  metrics: Metrics;
  /** Called when another client changed a field of ours. */
  drifted(owner: KubeObject, child: KubeObject, path: string): void;
}

export class Applier {
  readonly #deps: ApplyDeps;
  /**
   * By object, the state in which the API server returned our last request: it normalizes some values in ways that we do not
   * know.
   */
  readonly #answered = new Map<string, { hash: string; holds: string }>();

  constructor(deps: ApplyDeps) {
    this.#deps = deps;
  }

  async apply(
    owner: KubeObject,
    desired: readonly KubeObject[],
    { prune = true }: { prune?: Prune } = {},
  ): Promise<Applied> {
    const children = desired.map((object) => childOf(owner, object));
    const written: KubeObject[] = [];
    for (const child of children) {
      const answer = await this.#one(owner, child);
      if (answer) written.push(answer);
    }
    return { written, pruned: prune ? await this.#prune(owner, children, prune) : [] };
  }

  async #one(owner: KubeObject, child: KubeObject): Promise<KubeObject | undefined> {
    const { kind, metadata } = child;
    const live = this.#deps.caches.of(kind).get(metadata.namespace ?? '', metadata.name);
    if (live) {
      refuseForeign(owner, live, child);
      const drift = this.#driftOf(child, live);
      if (drift === undefined) return undefined;
      const hash = child.metadata.annotations?.[APPLIED];
      if (live.metadata.annotations?.[APPLIED] === hash) this.#deps.drifted(owner, child, drift);
    }
    if (!live && !(await this.#mayMake(owner, child))) return undefined;
    return this.#send(child, live === undefined);
  }

  /** The object is not in the cache, which may be outdated. */
  async #mayMake(owner: KubeObject, child: KubeObject): Promise<boolean> {
    if (child.kind === VALUES) await this.#refuseStale(child);
    return child.kind !== ONCE || this.#isNewest(owner);
  }

  /** Creating an existing Secret again would lose its values. The next pass uses the updated cache. */
  async #refuseStale({ kind, metadata }: KubeObject): Promise<void> {
    const live = await this.#live(kind, metadata);
    if (!live) return;
    this.#deps.caches.of(kind).put(live);
    throw new StaleCache(`${kind} ${metadata.name} exists and was not in the cache yet`);
  }

  async #live(kind: string, { namespace = '', name }: KubeObject['metadata']): Promise<KubeObject | undefined> {
    const path = await this.#deps.caches.pathOf(kind, namespace, name);
    const live = await this.#deps.rest.read<KubeObject>({ method: 'GET', path }).catch(absent);
    return live && { ...live, kind };
  }

  /**
   * True if the cache has the newest owner. A second operator may have an outdated one; its own watch will trigger a new
   * pass.
   */
  async #isNewest({ kind, metadata }: KubeObject): Promise<boolean> {
    const live = await this.#live(kind, metadata);
    return live?.metadata.uid === metadata.uid && live?.metadata.generation === metadata.generation;
  }

  #driftOf(child: KubeObject, live: KubeObject): string | undefined {
    const drift = driftOf(child, live);
    const known = this.#answered.get(live.metadata.uid ?? '');
    if (drift === undefined || known?.hash !== child.metadata.annotations?.[APPLIED]) return drift;
    return known?.holds === canonical(owned(child, live)) ? undefined : drift;
  }

  async #send(child: KubeObject, isNew: boolean): Promise<KubeObject> {
    const { rest, caches, metrics } = this.#deps;
    const { kind, metadata } = child;
    const path = await caches.pathOf(kind, metadata.namespace ?? '', metadata.name);
    if (!isNew && leavesReplicas(child)) await this.#handOver(path);
    const query = { fieldManager: FIELD_MANAGER, force: true };
    const answer = await rest.write<KubeObject>({
      method: 'PATCH',
      path,
      query,
      body: child,
      contentType: APPLY_PATCH,
    });
    metrics.writes.inc({ kind, verb: isNew ? 'create' : 'apply' });
    caches.of(kind).put(answer);
    this.#remember(child, answer);
    return answer;
  }

  /** Caches hold no managedFields, so the object is read. */
  async #handOver(path: string): Promise<void> {
    const { rest, metrics } = this.#deps;
    const live = await rest.read<KubeObject>({ method: 'GET', path }).catch(absent);
    const body = live && handOverOf(live);
    if (!body) return;
    const query = { fieldManager: HANDED_OVER };
    await rest.write({ method: 'PATCH', path, query, body, contentType: APPLY_PATCH });
    metrics.writes.inc({ kind: body.kind, verb: 'apply' });
  }

  #remember(child: KubeObject, answer: KubeObject): void {
    const uid = answer.metadata.uid ?? '';
    const hash = child.metadata.annotations?.[APPLIED] ?? '';
    if (driftOf(child, answer) === undefined) this.#answered.delete(uid);
    else this.#answered.set(uid, { hash, holds: canonical(owned(child, answer)) });
  }

  async #prune(owner: KubeObject, children: readonly KubeObject[], prune: Prune): Promise<KubeObject[]> {
    const wanted = new Set(children.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
    const labels = { [OWNER]: owner.metadata.uid ?? '' };
    const left = this.#deps.caches.kinds().flatMap((kind) =>
      this.#deps.caches
        .of(kind)
        .list(owner.metadata.namespace ?? '', labels)
        .filter(
          (child) => !wanted.has(`${kind}/${child.metadata.name}`) && isPrunable(owner, child) && isAmong(prune, child),
        ),
    );
    if (left.length === 0 || !(await this.#isNewest(owner))) return []; // a newer resource may desire them again
    if (left.some(({ kind }) => kind !== ONCE)) await this.#refuseOld(owner);
    const pruned: KubeObject[] = [];
    for (const child of left) if (await this.remove(child, owner.metadata.uid)) pruned.push(child);
    return pruned;
  }

  /**
   * Whether a child may be pruned depends on the objects that use it, such as pods that still use a Secret. If a cache is
   * outdated, the next pass decides.
   */
  async #refuseOld(owner: KubeObject): Promise<void> {
    const { namespace = '', uid = '' } = owner.metadata;
    const kinds = this.#deps.caches.kinds();
    const isOld = await Promise.all(kinds.map((kind) => this.#isOld(kind, namespace, uid)));
    const old = kinds.filter((_, index) => isOld[index]);
    if (old.length > 0) throw new StaleCache(`changes of ${old.join(', ')} were not in the cache yet`);
  }

  /** True if the cache was outdated; it is then updated. */
  async #isOld(kind: string, namespace: string, ownerUid: string): Promise<boolean> {
    const { caches, rest } = this.#deps;
    const concerned = await caches.concerned(kind, namespace, ownerUid);
    if (!concerned) return false;
    const { objects } = await listAll(rest, concerned.followed, new AbortController().signal);
    const cache = caches.of(kind);
    const versions = (of: readonly KubeObject[]): string =>
      of
        .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
        .sort()
        .join();
    const held = cache.list(namespace, concerned.labels);
    if (versions(held) === versions(objects)) return false;
    for (const object of held)
      if (!objects.some(({ metadata }) => metadata.uid === object.metadata.uid)) cache.drop(object);
    for (const object of objects) cache.put(object);
    return true;
  }

  /**
   * Reads the object first: the cache may be outdated, and a deletion cannot be undone. With an owner, deletes only a child
   * that still belongs to it and is not kept. True when it was deleted by this call.
   */
  async remove(object: { kind: string; metadata: KubeObject['metadata'] }, ownerUid?: string): Promise<boolean> {
    const { rest, caches, metrics } = this.#deps;
    const { kind, metadata } = object;
    const path = await caches.pathOf(kind, metadata.namespace ?? '', metadata.name);
    const live = await this.#live(kind, metadata);
    if (!live || !isStill(live, metadata.uid, ownerUid)) return false;
    const { uid, resourceVersion } = live.metadata;
    const preconditions = { uid, resourceVersion };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions };
    const answer = await rest.write<object>({ method: 'DELETE', path, body }).catch(absent);
    if (answer) metrics.writes.inc({ kind, verb: 'delete' });
    return answer !== undefined;
  }
}

function absent(error: unknown): undefined {
  if (!hasStatus(error, 404)) throw error;
}

function isStill(live: KubeObject, uid: string | undefined, ownerUid: string | undefined): boolean {
  if (live.metadata.deletionTimestamp || (uid !== undefined && live.metadata.uid !== uid)) return false;
  return ownerUid === undefined || (live.metadata.labels?.[OWNER] === ownerUid && isOurs(live) && !isKept(live));
}

/** Pods and claims of a StatefulSet have the labels of their template. Only objects that we applied may be deleted. */
const isOurs = ({ metadata }: KubeObject): boolean => metadata.annotations?.[APPLIED] !== undefined;

const isKept = ({ metadata }: KubeObject): boolean => metadata.annotations?.[KEEP] !== undefined;

const isAmong = (prune: Prune, { metadata }: KubeObject): boolean =>
  typeof prune === 'boolean' ? prune : prune.has(metadata.uid ?? '');

function isPrunable(owner: KubeObject, child: KubeObject): boolean {
  if (isKept(child) || !isOurs(child) || child.metadata.deletionTimestamp) return false;
  const controller = controllerOf(child);
  return controller === undefined || controller.uid === owner.metadata.uid;
}

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find((reference) => reference.controller);

/** Objects of other owners are not taken over, except a kept Secret that a user restored. */
function refuseForeign(owner: KubeObject, live: KubeObject, child: KubeObject): void {
  const controller = controllerOf(live);
  const name = `${live.kind} ${live.metadata.name}`;
  if (controller && controller.uid !== owner.metadata.uid)
    throw new PermanentFault(`${name} belongs to ${controller.kind} ${controller.name}: rename one of them`);
  if (
    !controller &&
    !(child.kind === VALUES && isKept(child)) &&
    live.metadata.labels?.[MANAGED_BY] !== 'foyer-operator'
  )
    throw new PermanentFault(`${name} exists and was not created by the operator: delete it, or rename this resource`);
}

/** The object with its owner and a digest of the desired state. A kept object (KEEP) gets the label of the owner only. */
function childOf(owner: KubeObject, object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = owner;
  const uid = metadata.uid ?? '';
  const reference = { apiVersion, kind, name: metadata.name, uid, controller: true, blockOwnerDeletion: true };
  const labels = { [MANAGED_BY]: 'foyer-operator', ...object.metadata.labels, [OWNER]: uid };
  const namespace = metadata.namespace ?? '';
  const own = isKept(object) ? {} : { ownerReferences: [reference] };
  const child = plain({ ...object, metadata: { ...object.metadata, namespace, labels, ...own } });
  const annotations = { ...child.metadata.annotations, [APPLIED]: digest(child) };
  return { ...child, metadata: { ...child.metadata, annotations } };
}

/** Without undefined members, as it is sent. */
const plain = (object: KubeObject): KubeObject => JSON.parse(JSON.stringify(object)) as KubeObject;

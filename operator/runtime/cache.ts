// The objects of one kind as last seen, with what we wrote ourselves taken in at once.
import { type KubeObject, OWNER } from './kube.ts';

/** Objects that were there before this one take its place; undefined is none. */
export type Changed = (object: KubeObject, before: KubeObject | undefined) => void;

/** How long a late answer to a write of ours cannot bring a deleted object back. */
const TOMBSTONES = 1000;

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
const keyOfObject = ({ metadata }: KubeObject): string => keyOf(metadata.namespace ?? '', metadata.name);

export class Cache {
  readonly #objects = new Map<string, KubeObject>();
  readonly #owned = new Map<string, Set<string>>();
  readonly #namespaces = new Map<string, Set<string>>();
  readonly #gone = new Map<string, string>();
  readonly #changed: Changed;

  constructor(changed: Changed) {
    this.#changed = changed;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  /** An empty namespace is all of them. */
  list(namespace: string, labels: Record<string, string> = {}): KubeObject[] {
    const wanted = Object.entries(labels);
    const found: KubeObject[] = [];
    for (const key of this.#candidates(namespace, labels[OWNER])) {
      const object = this.#objects.get(key);
      const fits = object && (!namespace || object.metadata.namespace === namespace);
      if (fits && wanted.every(([name, value]) => object.metadata.labels?.[name] === value)) found.push(object);
    }
    return found;
  }

  /** Of a list or a watch, or the answer to a write. An older state than the one held is left out. */
  put(given: KubeObject): void {
    const object = slim(given);
    const key = keyOfObject(object);
    const before = this.#objects.get(key);
    const newest = before?.metadata.resourceVersion ?? this.#gone.get(key);
    if (newest !== undefined && !isNewer(object.metadata.resourceVersion, newest)) return;
    if (before) this.#forget(key, before);
    this.#objects.set(key, object);
    indexed(this.#namespaces, object.metadata.namespace, key);
    indexed(this.#owned, object.metadata.labels?.[OWNER], key);
    this.#changed(object, before);
  }

  drop(object: KubeObject): void {
    const key = keyOfObject(object);
    const version = object.metadata.resourceVersion;
    if (version) this.#bury(key, version);
    const before = this.#objects.get(key);
    if (!before) return;
    this.#forget(key, before);
    this.#changed(slim(object), before);
  }

  /** A whole list of one namespace, or of all: what it does not hold is gone, unless it was written after the list was made. */
  replace(namespace: string, objects: readonly KubeObject[], version: string): void {
    const there = new Set(objects.map(keyOfObject));
    for (const object of this.list(namespace)) {
      const written = object.metadata.resourceVersion ?? '';
      if (!there.has(keyOfObject(object)) && !isNewer(written, version)) this.drop(object);
    }
    for (const object of objects) this.put(object);
  }

  /** The kind is not served any more. */
  clear(namespace: string): void {
    for (const object of this.list(namespace)) this.drop(object);
  }

  #candidates(namespace: string, owner: string | undefined): Iterable<string> {
    if (owner !== undefined) return this.#owned.get(owner) ?? [];
    return namespace ? (this.#namespaces.get(namespace) ?? []) : this.#objects.keys();
  }

  #forget(key: string, { metadata }: KubeObject): void {
    this.#objects.delete(key);
    unindexed(this.#namespaces, metadata.namespace, key);
    unindexed(this.#owned, metadata.labels?.[OWNER], key);
  }

  #bury(key: string, version: string): void {
    this.#gone.delete(key);
    this.#gone.set(key, version);
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > TOMBSTONES && oldest !== undefined) this.#gone.delete(oldest);
  }
}

/** `kubectl apply` repeats the whole object in it. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Half of most objects is managedFields, and half of the rest what was applied: nobody here reads either. */
function slim(object: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!('managedFields' in object.metadata) && annotations?.[LAST_APPLIED] === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields: unknown };
  if (annotations?.[LAST_APPLIED] === undefined) return { ...object, metadata };
  const { [LAST_APPLIED]: _applied, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

/** Versions of one API server's store are growing numbers; where one is not a number, the later word wins. */
function isNewer(version: string | undefined, than: string): boolean {
  if (version === undefined || !/^\d+$/.test(version) || !/^\d+$/.test(than)) return true;
  return version.length === than.length ? version > than : version.length > than.length;
}

function indexed(index: Map<string, Set<string>>, at: string | undefined, key: string): void {
  if (at === undefined) return;
  const keys = index.get(at) ?? new Set();
  index.set(at, keys.add(key));
}

function unindexed(index: Map<string, Set<string>>, at: string | undefined, key: string): void {
  const keys = at === undefined ? undefined : index.get(at);
  if (!keys || at === undefined) return;
  keys.delete(key);
  if (keys.size === 0) index.delete(at);
}

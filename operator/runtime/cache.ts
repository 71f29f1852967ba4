// The objects of one kind as last observed, including our own writes at once.
import { type KubeObject, OWNER } from './kube.ts';

/** Called with the previous object, or undefined for a new one. */
export type Changed = (object: KubeObject, before: KubeObject | undefined) => void;

/** Number of deletions remembered, so that a late response to our own write does not restore a deleted object. */
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

  /** An empty namespace means all. */
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

  /** Stores an object of a list, a watch or a response. States older than the cached one are ignored. */
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

  /**
   * Applies a complete list of one namespace, or of all: other objects are removed, unless they were written after the list.
   */
  replace(namespace: string, objects: readonly KubeObject[], version: string): void {
    const there = new Set(objects.map(keyOfObject));
    for (const object of this.list(namespace)) {
      const written = object.metadata.resourceVersion ?? '';
      if (!there.has(keyOfObject(object)) && !isNewer(written, version)) this.drop(object);
    }
    for (const object of objects) this.put(object);
  }

  /** The kind is no longer served. */
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

/** `kubectl apply` repeats the whole object in this annotation. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Removes managedFields and the annotation of `kubectl apply`, which are most of the size and are not used here. */
function slim(object: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!('managedFields' in object.metadata) && annotations?.[LAST_APPLIED] === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  if (annotations?.[LAST_APPLIED] === undefined) return { ...object, metadata };
  const { [LAST_APPLIED]: _applied, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

/** Resource versions of one API server are increasing numbers; if one is not a number, the later update wins. */
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

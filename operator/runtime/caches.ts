// The caches and informers of all watched kinds.
import { Cache } from './cache.ts';
import { type Discovery, pathOf } from './discovery.ts';
import { Informer, type InformerDeps } from './informer.ts';
import { type KubeObject, OWNER, type Reader, type Watch } from './kube.ts';
import type { Followed } from './watch-stream.ts';

interface Kept {
  watch: Watch;
  cache: Cache;
  informers: Informer[];
}

export interface Concerned {
  labels: Record<string, string>;
  followed: Followed;
}

export interface CachesPlan {
  /** Empty means all namespaces. */
  namespaces: readonly string[];
  watches: readonly Watch[];
  discovery: Discovery;
  changed: (object: KubeObject) => void;
}

export class Caches implements Reader {
  readonly #kept = new Map<string, Kept>();
  readonly #discovery: Discovery;

  constructor(deps: InformerDeps, { namespaces, watches, discovery, changed }: CachesPlan) {
    this.#discovery = discovery;
    for (const watch of watches) {
      const before = this.#kept.get(watch.kind);
      if (before) sameWatch(before.watch, watch);
      else this.#kept.set(watch.kind, { watch, cache: new Cache(changed), informers: [] });
    }
    for (const { watch, cache, informers } of this.#kept.values())
      for (const namespace of namespaces.length > 0 ? namespaces : [''])
        informers.push(new Informer(deps, this.#plan(watch, cache, namespace)));
  }

  get(kind: string, namespace: string, name: string): KubeObject | undefined {
    return this.of(kind).get(namespace, name);
  }

  list(kind: string, namespace: string, labels?: Record<string, string>): readonly KubeObject[] {
    return this.of(kind).list(namespace, labels);
  }

  served(kind: string): boolean {
    return this.#known(kind).informers.some(({ served }) => served === true);
  }

  seek(kind: string): void {
    for (const informer of this.#known(kind).informers) informer.seek();
  }

  /** Throws for a kind that no controller watches: without a cache there is no comparison. */
  of(kind: string): Cache {
    return this.#known(kind).cache;
  }

  kinds(): string[] {
    return [...this.#kept.keys()];
  }

  async pathOf(kind: string, namespace: string, name: string): Promise<string> {
    const { apiVersion } = this.#known(kind).watch;
    const place = await this.#discovery.find(apiVersion, kind);
    if (!place) throw new Error(`the API server does not serve ${kind} of ${apiVersion}`);
    return pathOf(place, namespace, name);
  }

  /** How to list the objects that concern an owner: by the labels of the watch, or by the label of the owner. */
  async concerned(kind: string, namespace: string, ownerUid: string): Promise<Concerned | undefined> {
    const { watch } = this.#known(kind);
    if (watch.optional && !this.served(kind)) return undefined;
    const labels = watch.labels ?? { [OWNER]: ownerUid };
    const { apiVersion, fields } = watch;
    const place = await this.#discovery.find(apiVersion, kind);
    const selectors = { labelSelector: selectorOf(labels), fieldSelector: selectorOf(fields) };
    return place && { labels, followed: { apiVersion, kind, path: pathOf(place, namespace), ...selectors } };
  }

  start(): void {
    for (const informer of this.informers()) informer.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.informers().map((informer) => informer.stop()));
  }

  async synced(): Promise<void> {
    await Promise.all(this.informers().map((informer) => informer.ready()));
  }

  informers(): Informer[] {
    return [...this.#kept.values()].flatMap(({ informers }) => informers);
  }

  #known(kind: string): Kept {
    const kept = this.#kept.get(kind);
    if (!kept) throw new Error(`no controller watches ${kind}`);
    return kept;
  }

  #plan({ apiVersion, kind, labels, fields }: Watch, cache: Cache, namespace: string) {
    const selectors = { labelSelector: selectorOf(labels), fieldSelector: selectorOf(fields) };
    const find = async (): Promise<Followed | undefined> => {
      const place = await this.#discovery.find(apiVersion, kind);
      return place && { apiVersion, kind, path: pathOf(place, namespace), ...selectors };
    };
    const lost = (): void => this.#discovery.forget(apiVersion);
    return { namespace, cache, kind, find, lost };
  }
}

function selectorOf(wanted: Record<string, string> | undefined): string | undefined {
  const pairs = Object.entries(wanted ?? {}).map(([name, value]) => `${name}=${value}`);
  return pairs.length > 0 ? pairs.join(',') : undefined;
}

function sameWatch(one: Watch, other: Watch): void {
  const text = ({ apiVersion, labels, fields }: Watch): string => JSON.stringify([apiVersion, labels, fields]);
  if (text(one) !== text(other)) throw new Error(`two controllers watch ${one.kind} in two ways`);
}

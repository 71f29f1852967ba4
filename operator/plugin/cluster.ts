// What the plugin reads of a cluster, with the kubeconfig of the person who runs it.

import type { Readable, Writable } from 'node:stream';
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  PortForward,
  VersionApi,
} from '@kubernetes/client-node';
import type { KubeObject } from '../runtime/kube.ts';
import { GROUP, VERSION } from '../schemas/structural.ts';

export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

/** Said to the person as it is. */
export class Refused extends Error {}

export interface PodLogAsk {
  pod: string;
  /** The one of the context unless told. */
  namespace?: string;
  container: string;
  previous?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
}

export class Cluster {
  readonly namespace: string;
  readonly #config: KubeConfig;
  readonly #objects: KubernetesObjectApi;
  readonly #core: CoreV1Api;

  constructor({ kubeconfig, context, namespace }: ClusterOptions) {
    this.#config = new KubeConfig();
    if (kubeconfig) this.#config.loadFromFile(kubeconfig);
    else this.#config.loadFromDefault();
    if (context) this.#config.setCurrentContext(context);
    const current = this.#config.getContextObject(this.#config.getCurrentContext());
    if (!current) throw new Refused('no cluster: set KUBECONFIG or --kubeconfig');
    this.namespace = namespace ?? current.namespace ?? 'default';
    this.#objects = KubernetesObjectApi.makeApiClient(this.#config);
    this.#core = this.#config.makeApiClient(CoreV1Api);
  }

  /** Objects of the namespace (of the cluster for kinds without one); undefined where the kind or the right is lacking. */
  list(apiVersion: string, kind: string, labels?: Record<string, string>): Promise<KubeObject[] | undefined> {
    return this.#list(apiVersion, kind, { namespace: this.namespace, ...(labels && { labels }) });
  }

  /** Those of all namespaces, and those that belong to none, such as Nodes and CustomResourceDefinitions. */
  listAll(apiVersion: string, kind: string, labels?: Record<string, string>): Promise<KubeObject[] | undefined> {
    return this.#list(apiVersion, kind, labels && { labels });
  }

  async #list(
    apiVersion: string,
    kind: string,
    { namespace, labels = {} }: { namespace?: string; labels?: Record<string, string> } = {},
  ): Promise<KubeObject[] | undefined> {
    const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const none = undefined; // of what a list can be told beside
    const found = await orAbsent(
      this.#objects.list(apiVersion, kind, namespace, none, none, none, none, selector.join() || none),
    );
    return found?.items.map((item) => ({ ...plain(item), apiVersion, kind }));
  }

  /** Undefined where there is none, or it may not be read. */
  async secret(name: string): Promise<KubeObject | undefined> {
    const found = await orAbsent(this.#core.readNamespacedSecret({ name, namespace: this.namespace }));
    return found && plain(found);
  }

  foyer(kind: string): Promise<KubeObject[] | undefined> {
    return this.list(`${GROUP}/${VERSION}`, kind);
  }

  async version(): Promise<string> {
    return (await this.#config.makeApiClient(VersionApi).getCode()).gitVersion;
  }

  /** Undefined when there is none, such as that of a container which never ended. */
  async log({ pod, namespace = this.namespace, ...ask }: PodLogAsk): Promise<string | undefined> {
    return orAbsent(this.#core.readNamespacedPodLog({ name: pod, namespace, ...ask }));
  }

  /** Writes the log as it grows; the controller ends it. */
  follow({ pod, container, namespace = this.namespace, ...ask }: PodLogAsk, to: Writable): Promise<AbortController> {
    return new Log(this.#config).log(namespace, pod, container, to, { follow: true, ...ask });
  }

  async forward(pod: string, port: number, { to, from }: { to: Writable; from: Readable }): Promise<void> {
    await new PortForward(this.#config).portForward(this.namespace, pod, [port], to, null, from);
  }
}

/** Classes of the client are told as the API server spells them. */
const plain = (item: object): KubeObject => JSON.parse(JSON.stringify(item)) as KubeObject;

async function orAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiException && [400, 403, 404].includes(error.code)) return undefined;
    if (/Unrecognized API version and kind/.test(String(error))) return undefined;
    throw error;
  }
}

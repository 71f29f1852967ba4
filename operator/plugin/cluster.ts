// Reads the cluster with the user's kubeconfig.

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

/** Its message is shown to the user as it is. */
export class Refused extends Error {}

export interface PodLogQuery {
  pod: string;
  /** Default: the namespace of the context. */
  namespace?: string;
  container: string;
  previous?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
}

/** The status of a request that the user has no permission for. */
const FORBIDDEN = 403;

export class Cluster {
  readonly namespace: string;
  /** Requests that were denied, as text. */
  readonly denied = new Set<string>();
  readonly #config: KubeConfig;
  readonly #objects: KubernetesObjectApi;
  readonly #core: CoreV1Api;

  constructor({ kubeconfig, context, namespace }: ClusterOptions) {
    this.#config = configOf(kubeconfig);
    if (context) this.#config.setCurrentContext(context);
    const name = this.#config.getCurrentContext();
    const current = this.#config.getContextObject(name);
    if (!current) throw new Refused(context ? `no context ${name} in the kubeconfig` : NO_CLUSTER);
    this.namespace = namespace ?? current.namespace ?? 'default';
    this.#objects = KubernetesObjectApi.makeApiClient(this.#config);
    this.#core = this.#config.makeApiClient(CoreV1Api);
  }

  /**
   * Objects of the namespace, or of the cluster for kinds without one; undefined where the kind or the permission is missing.
   */
  list(apiVersion: string, kind: string, labels?: Record<string, string>): Promise<KubeObject[] | undefined> {
    return this.#list(apiVersion, kind, { namespace: this.namespace, ...(labels && { labels }) });
  }

  /** Objects of all namespaces, and objects without one, such as Nodes and CustomResourceDefinitions. */
  listAll(apiVersion: string, kind: string, labels?: Record<string, string>): Promise<KubeObject[] | undefined> {
    return this.#list(apiVersion, kind, labels && { labels });
  }

  async #list(
    apiVersion: string,
    kind: string,
    { namespace, labels = {} }: { namespace?: string; labels?: Record<string, string> } = {},
  ): Promise<KubeObject[] | undefined> {
    const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const none = undefined; // the other parameters of list
    const what = `list ${kind}${namespace === undefined ? ' of the whole cluster' : ` in namespace ${namespace}`}`;
    const found = await this.#attempt(
      what,
      this.#objects.list(apiVersion, kind, namespace, none, none, none, none, selector.join() || none),
    );
    return found?.items.map((item) => ({ ...plain(item), apiVersion, kind }));
  }

  /** Undefined where it does not exist or the permission is missing. */
  async secret(name: string): Promise<KubeObject | undefined> {
    const response = this.#core.readNamespacedSecret({ name, namespace: this.namespace });
    const found = await this.#attempt(`read Secret ${name} in namespace ${this.namespace}`, response);
    return found && plain(found);
  }

  foyer(kind: string): Promise<KubeObject[] | undefined> {
    return this.list(`${GROUP}/${VERSION}`, kind);
  }

  async version(): Promise<string> {
    return (await this.#config.makeApiClient(VersionApi).getCode()).gitVersion;
  }

  /** Undefined when there is no log, such as that of a container which never ended. */
  async log({ pod, namespace = this.namespace, ...query }: PodLogQuery): Promise<string | undefined> {
    const response = this.#core.readNamespacedPodLog({ name: pod, namespace, ...query });
    return this.#attempt(logsOf(namespace), response);
  }

  /** Streams the log until it ends; false when there is none yet. */
  async follow({ pod, container, namespace = this.namespace, ...query }: PodLogQuery, to: Writable): Promise<boolean> {
    const log = new Log(this.#config).log(namespace, pod, container, to, { follow: true, ...query });
    return (await this.#attempt(logsOf(namespace), log)) !== undefined;
  }

  /** Throws if a request was denied. */
  insist(): void {
    if (this.denied.size > 0) throw new Refused(deniedWords(this.denied));
  }

  /** Undefined when the object does not exist or the request was denied; `denied` distinguishes the two. */
  async #attempt<T>(what: string, response: Promise<T>): Promise<T | undefined> {
    try {
      return await response;
    } catch (error) {
      if (error instanceof ApiException && error.code === FORBIDDEN) this.denied.add(what);
      else if (!isAbsent(error)) throw error;
      return undefined;
    }
  }

  async forward(pod: string, port: number, { to, from }: { to: Writable; from: Readable }): Promise<void> {
    await new PortForward(this.#config).portForward(this.namespace, pod, [port], to, null, from);
  }
}

const logsOf = (namespace: string): string => `read logs of pods in namespace ${namespace}`;

/** `you may not list Pod in namespace media`, and further requests. */
export const deniedWords = (denied: Iterable<string>): string => `you may not ${[...denied].join(', nor ')}`;

/** Converts an object of the client library to plain JSON. */
const plain = (item: object): KubeObject => JSON.parse(JSON.stringify(item)) as KubeObject;

const ABSENT = [400, 404];

const isAbsent = (error: unknown): boolean =>
  (error instanceof ApiException && ABSENT.includes(error.code)) ||
  /Unrecognized API version and kind/.test(String(error));

const NO_CLUSTER = 'no cluster: set KUBECONFIG or --kubeconfig';

function configOf(file: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (file) config.loadFromFile(file);
  else config.loadFromDefault();
  // The client's default when no kubeconfig was found.
  if (!file && config.getCurrentContext() === 'loaded-context' && config.getCurrentCluster()?.server === NOTHING)
    throw new Refused(NO_CLUSTER);
  for (const user of config.getUsers()) setExecInfo(user.exec as Exec | undefined);
  return config;
}

const NOTHING = 'http://localhost:8080';

interface Exec {
  apiVersion?: string;
  env?: { name: string; value: string }[] | null;
}

/** Credential plugins read their input from a variable, which the client does not set. */
function setExecInfo(exec: Exec | undefined): void {
  if (!exec) return;
  const value = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec: { interactive: false } };
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(value) }];
}

/** The message of any error: ours, the API server's or the network's. Users need no stack trace. */
export function wordsOf(error: Error): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof ApiException) return `the cluster refuses: ${error.code} ${messageIn(error.body)}`.trim();
  const { cause, message } = error as Error & { cause?: Error };
  return `the cluster is not reachable: ${cause?.message || message}`;
}

/** The message of a Status, which the client returns as text or as an object. */
function messageIn(body: unknown): string {
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: string } | undefined;
    return status?.message ?? '';
  } catch {
    return String(body).slice(0, 200);
  }
}

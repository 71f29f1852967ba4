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

export interface PodLogQuery {
  pod: string;
  /** The one of the context unless told. */
  namespace?: string;
  container: string;
  previous?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
}

/** The errors with which an API server says that somebody may not. */
const FORBIDDEN = 403;

export class Cluster {
  readonly namespace: string;
  /** What was asked for and may not be read, as words. */
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
    const what = `list ${kind}${namespace === undefined ? ' of the whole cluster' : ` in namespace ${namespace}`}`;
    const found = await this.#asked(
      what,
      this.#objects.list(apiVersion, kind, namespace, none, none, none, none, selector.join() || none),
    );
    return found?.items.map((item) => ({ ...plain(item), apiVersion, kind }));
  }

  /** Undefined where there is none, or it may not be read. */
  async secret(name: string): Promise<KubeObject | undefined> {
    const asked = this.#core.readNamespacedSecret({ name, namespace: this.namespace });
    const found = await this.#asked(`read Secret ${name} in namespace ${this.namespace}`, asked);
    return found && plain(found);
  }

  foyer(kind: string): Promise<KubeObject[] | undefined> {
    return this.list(`${GROUP}/${VERSION}`, kind);
  }

  async version(): Promise<string> {
    return (await this.#config.makeApiClient(VersionApi).getCode()).gitVersion;
  }

  /** Undefined when there is none, such as that of a container which never ended. */
  async log({ pod, namespace = this.namespace, ...ask }: PodLogQuery): Promise<string | undefined> {
    const asked = this.#core.readNamespacedPodLog({ name: pod, namespace, ...ask });
    return this.#asked(logsOf(namespace), asked);
  }

  /** Writes the log as it grows, to its end; false when there is none yet. */
  async follow({ pod, container, namespace = this.namespace, ...ask }: PodLogQuery, to: Writable): Promise<boolean> {
    const log = new Log(this.#config).log(namespace, pod, container, to, { follow: true, ...ask });
    return (await this.#asked(logsOf(namespace), log)) !== undefined;
  }

  /** Throws what was refused for lack of a right. */
  insist(): void {
    if (this.denied.size > 0) throw new Refused(deniedWords(this.denied));
  }

  /** Undefined where there is none, or it may not be read: `denied` tells those apart. */
  async #asked<T>(what: string, asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
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

/** `you may not list Pod in namespace media`, and what else. */
export const deniedWords = (denied: Iterable<string>): string => `you may not ${[...denied].join(', nor ')}`;

/** Classes of the client are told as the API server spells them. */
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
  // What the client takes where it has found nothing.
  if (!file && config.getCurrentContext() === 'loaded-context' && config.getCurrentCluster()?.server === NOTHING)
    throw new Refused(NO_CLUSTER);
  for (const user of config.getUsers()) tellExec(user.exec as Exec | undefined);
  return config;
}

const NOTHING = 'http://localhost:8080';

interface Exec {
  apiVersion?: string;
  env?: { name: string; value: string }[] | null;
}

/** Programs that make credentials read what is asked of them from a variable, which the client does not set. */
function tellExec(exec: Exec | undefined): void {
  if (!exec) return;
  const value = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec: { interactive: false } };
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(value) }];
}

/** Of any error: ours, the API server's, or the network's. Nobody who asks for help wants a stack. */
export function wordsOf(error: Error): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof ApiException) return `the cluster refuses: ${error.code} ${saidBy(error.body)}`.trim();
  const { cause, message } = error as Error & { cause?: Error };
  return `the cluster could not be asked: ${cause?.message || message}`;
}

/** The message of a Status, which the client hands on as text or as an object. */
function saidBy(body: unknown): string {
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: string } | undefined;
    return status?.message ?? '';
  } catch {
    return String(body).slice(0, 200);
  }
}

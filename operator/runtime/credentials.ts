// Authentication to the API server by @kubernetes/client-node, and one agent for all requests. The library's own clients
// create a new agent, and so a new TLS connection, for every request.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';

/** Credentials of files and programs are read again after this; client-node reads a token file at most once a minute. */
const FRESH_MS = 10_000;

export interface Access {
  /** Base URL without a trailing slash. */
  server: string;
  headers: Record<string, string>;
  agent: HttpAgent;
}

type Tls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;

export class Credentials {
  readonly #load: () => KubeConfig;
  #config: KubeConfig;
  #made: { key: string; agent: HttpAgent } | undefined;
  #access: { until: number; value: Promise<Access> } | undefined;

  /** From a kubeconfig file; otherwise from kubectl's defaults, or the service account of the pod. */
  constructor(kubeconfig?: string) {
    this.#load = () => loaded(kubeconfig);
    this.#config = this.#load();
  }

  /** The namespace of the current context, or of the pod. */
  get namespace(): string {
    return this.#config.getContextObject(this.#config.getCurrentContext())?.namespace ?? 'default';
  }

  current(): Promise<Access> {
    if (this.#access && this.#access.until > performance.now()) return this.#access.value;
    const value = this.#read();
    this.#access = { until: performance.now() + FRESH_MS, value };
    value.catch(() => this.forget());
    return value;
  }

  /** After a 401: reads everything again. */
  refresh(): void {
    this.#config = this.#load();
    this.forget();
  }

  forget(): void {
    this.#access = undefined;
  }

  close(): void {
    this.#made?.agent.destroy();
    this.#made = undefined;
  }

  async #read(): Promise<Access> {
    const cluster = this.#config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig names no cluster');
    const options: RequestOptions = { headers: {} };
    await this.#config.applyToHTTPSOptions(options);
    const headers = { ...(options.headers as Record<string, string>) };
    if (options.auth) headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    const server = cluster.server.replace(/\/$/, '');
    const agent = cluster.proxyUrl ? (options.agent as HttpAgent) : this.#agentFor(server, options);
    return { server, headers, agent };
  }

  /** The same agent until the credentials of the connection change. */
  #agentFor(server: string, options: RequestOptions): HttpAgent {
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
    const given = Object.entries({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername });
    const tls = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Tls;
    const text = [server, ...Object.values(tls).map(String)].join('\n');
    if (this.#made?.key === text) return this.#made.agent;
    const before = this.#made?.agent;
    const settings = { keepAlive: true, keepAliveMsecs: 30_000, scheduling: 'lifo' as const };
    const agent = server.startsWith('https:') ? new HttpsAgent({ ...settings, ...tls }) : new HttpAgent(settings);
    this.#made = { key: text, agent };
    if (before) closeIdle(before);
    return agent;
  }
}

/** Running requests complete. */
function closeIdle(agent: HttpAgent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

function loaded(kubeconfig: string | undefined): KubeConfig {
  const config = new KubeConfig();
  if (kubeconfig) config.loadFromFile(kubeconfig);
  else if (!process.env.KUBECONFIG && process.env.KUBERNETES_SERVICE_HOST) config.loadFromCluster();
  else config.loadFromDefault();
  return config;
}

// `operator`: reconciles the resources of a cluster.
import { z } from 'zod';
import { libraryController } from './library/controller.ts';
import { lookController } from './library/look.ts';
import { mediaServerController } from './media-server/controller.ts';
import { type DefaultImages, STORE_IMAGES } from './media-server/desired/images.ts';
import type { Connection } from './media-server/observe.ts';
import { Refused } from './refused.ts';
import { Credentials } from './runtime/credentials.ts';
import { serveHealth } from './runtime/health.ts';
import type { Controller } from './runtime/kube.ts';
import { endProcess } from './runtime/leave.ts';
import { newLog } from './runtime/log.ts';
import { Manager } from './runtime/manager.ts';
import { processMetrics } from './runtime/metrics.ts';
import { exchange } from './server-api/exchange.ts';
import { serverClient } from './server-api/server-client.ts';
import { apiAddress, type ServerName, Servers } from './server-api/servers.ts';
import { addedTunersController } from './tuner-device/added.ts';
import { tunerDeviceController } from './tuner-device/controller.ts';
import { ServerTuners } from './tuner-device/server-tuners.ts';

export interface ClusterOptions {
  /** Namespaces to watch; none means all. */
  namespace: readonly string[];
  leaderElect: boolean;
  leaseNamespace?: string;
  workers: number;
  kubeconfig?: string;
  /** Patterns with `{name}` and `{namespace}`, for an operator that runs outside the cluster. */
  apiUrl?: string;
  serverMetricsUrl?: string;
  tunerUrl?: string;
  /** CIDRs of the cluster's pods and services. Servers do not call these addresses on behalf of users. */
  clusterNetwork: readonly string[];
  host: string;
  healthPort: number;
  metricsPort: number;
}

const LEASE = 'foyer-operator';
const SERVER_METRICS = 'http://{name}-api.{namespace}.svc:9090/metrics';
const ANSWER_MS = 5000;
/** Time to stop after SIGTERM; the kubelet waits longer. */
const LEAVE_MS = 9500;

/** The default images of this installation. */
export function imagesFrom(env: NodeJS.ProcessEnv): DefaultImages {
  return {
    foyer: env.FOYER_IMAGE ?? 'foyer:latest',
    postgres: env.FOYER_POSTGRES_IMAGE ?? STORE_IMAGES.postgres,
    redis: env.FOYER_REDIS_IMAGE ?? STORE_IMAGES.redis,
    minio: env.FOYER_MINIO_IMAGE ?? STORE_IMAGES.minio,
  };
}

/** Runs until SIGTERM or SIGINT and returns 0. Returns 1 when the lease is lost: Kubernetes then restarts the process. */
export async function runCluster(options: ClusterOptions): Promise<number> {
  const log = newLog();
  const stopping = stopSignal();
  const credentials = credentialsOf(options);
  const namespace = options.leaseNamespace ?? process.env.FOYER_POD_NAMESPACE ?? credentials.namespace;
  const manager = new Manager({
    credentials,
    controllers: controllersOf(options),
    log,
    namespaces: options.namespace,
    workers: options.workers,
    ...(options.leaderElect && { election: { namespace, name: LEASE } }),
  });
  processMetrics(manager.metrics);
  const { host, healthPort, metricsPort } = options;
  const serving = await serveHealth(manager, { host, health: healthPort, metrics: metricsPort });
  const watched = options.namespace.join(', ') || 'all';
  log.info({ namespaces: watched, health: serving.health, metrics: serving.metrics }, 'the operator runs');
  const kept = await manager.run(stopping);
  await serving.close();
  return kept ? 0 : 1;
}

function credentialsOf({ kubeconfig }: ClusterOptions): Credentials {
  try {
    return new Credentials(kubeconfig);
  } catch (error) {
    throw new Refused(`no valid kubeconfig: ${(error as Error).message}`);
  }
}

/** All controllers of this operator. */
export function controllersOf(options: ClusterOptions): Controller[] {
  const images = imagesFrom(process.env);
  const { apiUrl, tunerUrl, serverMetricsUrl = SERVER_METRICS } = options;
  const connect = (server: ServerName, key: string): Connection => ({
    request: serverClient(apiAddress(server, apiUrl), key),
    metrics: () => textAt(apiAddress(server, serverMetricsUrl)),
  });
  const servers = new Servers(apiUrl);
  const tuners = new ServerTuners(apiUrl);
  return [
    mediaServerController({ images, connect, clusterNetworks: networksOf(options) }),
    libraryController(servers),
    lookController(servers),
    tunerDeviceController({ images, servers: tuners, ...(tunerUrl !== undefined && { tunerUrl }) }),
    addedTunersController({ images, servers: tuners }),
  ];
}

/** Refuses to start with an invalid range: servers would then call addresses inside the cluster. */
export function networksOf({ clusterNetwork }: Pick<ClusterOptions, 'clusterNetwork'>): string[] {
  const cidr = z.union([z.cidrv4(), z.cidrv6()]);
  const wrong = clusterNetwork.find((text) => !cidr.safeParse(text).success);
  if (wrong !== undefined) throw new Refused(`--cluster-network: ${wrong} is not a CIDR such as 10.244.0.0/16`);
  return [...new Set(clusterNetwork)].sort();
}

async function textAt(address: string): Promise<string | undefined> {
  const { status, text } = await exchange(address, { timeoutMs: ANSWER_MS });
  return status === 200 ? text : undefined;
}

function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort();
    setTimeout(() => void endProcess(0), LEAVE_MS).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return stopping.signal;
}

import type { KubeObject } from '../runtime/kube.ts';
import { type Cluster, Refused } from './cluster.ts';

/** The input of a diagnosis; undefined where the permission is missing. */
export interface Snapshot {
  takenAt: Date;
  clusterVersion: string;
  namespace: string;
  crds: KubeObject[] | undefined;
  /** Of this namespace; if it has none, of all readable ones. */
  operators: KubeObject[] | undefined;
  operatorPods: KubeObject[];
  servers: KubeObject[];
  libraries: KubeObject[];
  tuners: KubeObject[];
  pods: KubeObject[];
  claims: KubeObject[];
  storageClasses: KubeObject[] | undefined;
  ingressClasses: KubeObject[] | undefined;
  nodes: KubeObject[] | undefined;
  /** The newest first. */
  events: KubeObject[];
  /** Requests that were denied. */
  denied: string[];
}

const OPERATOR = { 'app.kubernetes.io/name': 'foyer-operator' };

/** One operator may watch all namespaces from another one. */
async function nearest(cluster: Cluster, apiVersion: string, kind: string): Promise<KubeObject[] | undefined> {
  const here = await cluster.list(apiVersion, kind, OPERATOR);
  return here?.length ? here : ((await cluster.listAll(apiVersion, kind, OPERATOR)) ?? here);
}

export async function takeSnapshot(cluster: Cluster): Promise<Snapshot> {
  const [servers, libraries, tuners] = await Promise.all(
    ['MediaServer', 'Library', 'TunerDevice'].map((kind) => cluster.foyer(kind)),
  );
  const crds = await cluster.listAll('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
  const own = { 'app.kubernetes.io/name': 'foyer' };
  const events = (await cluster.list('v1', 'Event')) ?? [];
  const timeOf = ({ lastTimestamp, eventTime, metadata }: KubeObject): string =>
    ((lastTimestamp ?? eventTime) as string | undefined) ?? metadata.creationTimestamp ?? '';
  return {
    takenAt: new Date(),
    clusterVersion: await cluster.version(),
    namespace: cluster.namespace,
    crds: crds?.filter(({ metadata }) => metadata.name.endsWith('.foyer.media')),
    operators: await nearest(cluster, 'apps/v1', 'Deployment'),
    operatorPods: (await nearest(cluster, 'v1', 'Pod')) ?? [],
    servers: servers ?? [],
    libraries: libraries ?? [],
    tuners: tuners ?? [],
    pods: (await cluster.list('v1', 'Pod', own)) ?? [],
    claims: (await cluster.list('v1', 'PersistentVolumeClaim')) ?? [],
    storageClasses: await cluster.listAll('storage.k8s.io/v1', 'StorageClass'),
    ingressClasses: await cluster.listAll('networking.k8s.io/v1', 'IngressClass'),
    nodes: await cluster.listAll('v1', 'Node'),
    events: events.sort((a, b) => timeOf(b).localeCompare(timeOf(a))),
    denied: [...cluster.denied],
  };
}

/** The named server, or the only one of the namespace. */
export function serverOf({ servers, namespace }: Pick<Snapshot, 'servers' | 'namespace'>, name?: string): KubeObject {
  if (name === undefined && servers.length === 1 && servers[0]) return servers[0];
  const found = servers.find(({ metadata }) => metadata.name === name);
  if (found) return found;
  const there = servers.map(({ metadata }) => metadata.name).join(', ') || 'none';
  const problem = name === undefined ? 'name one' : `no MediaServer ${name}`;
  throw new Refused(`${problem}: namespace ${namespace} has ${there}`);
}

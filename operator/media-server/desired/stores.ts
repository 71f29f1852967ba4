// Managed stores: one pod each, with a claim that outlives the server.
import type {
  Container,
  EmptyDir,
  Manifest,
  PodSpec,
  PodTemplate,
  Probe,
  ResourceRequirements,
} from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';
import { type Context, fingerprint } from './context.ts';
import { type EnvValue, envOf, isSecret } from './environment.ts';
import { type Component, defined, KEPT, metaOf, nameOf, selectorOf } from './meta.ts';
import { CHECKSUM, PULL, restrictedContainer, restrictedPod, sized } from './pod.ts';
import { BEFORE_POSTGRES, INITDB_ARGS } from './postgres-start.ts';

export type StoreName = Extract<Component, 'postgres' | 'redis' | 'objects'>;

export const STORE_PORTS: Record<StoreName, number> = { postgres: 5432, redis: 6379, objects: 9000 };

interface Store {
  name: StoreName;
  image: string;
  user: number;
  args?: string[];
  env: Record<string, EnvValue>;
  /** Mount path of the data. */
  path: string;
  /** A script that runs in the image before the store starts, with the same environment and volumes. */
  before?: { name: string; script: string };
  /** Undefined: data is lost at a restart. */
  storage: string | number | undefined;
  storageClassName?: string | undefined;
  annotations?: Record<string, string> | undefined;
  /** Other writable folders; a medium puts them in memory. */
  writable: Record<string, EmptyDir>;
  probe: Probe;
  resources: ResourceRequirements;
  grace: number;
}

const DATA = 'data';

function claim(
  server: Server,
  { name, storage, storageClassName, annotations = KEPT }: Store,
): Manifest<'PersistentVolumeClaim'> {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: DATA, labels: selectorOf(server, name), annotations },
    spec: defined({
      accessModes: ['ReadWriteOnce'],
      storageClassName,
      volumeMode: 'Filesystem',
      resources: { requests: { storage: String(storage) } },
    }),
  };
}

type Folder = [volume: string, path: string, source: EmptyDir];

const folders = ({ writable, storage }: Store): Folder[] => [
  ...Object.entries(writable).map(([path, emptyDir], index): Folder => [`tmp-${index}`, path, emptyDir]),
  ...(storage === undefined ? ([[DATA, '', {}]] satisfies Folder[]) : []),
];

function containers({ server }: Context, store: Store): Pick<PodSpec, 'initContainers' | 'containers'> {
  const { name, image, path, before, probe } = store;
  const extra = folders(store).filter(([, mountPath]) => mountPath);
  const shared = {
    image,
    imagePullPolicy: server.spec.imagePullPolicy ?? PULL,
    env: envOf(store.env),
    volumeMounts: [
      { name: DATA, mountPath: path },
      ...extra.map(([volume, mountPath]) => ({ name: volume, mountPath })),
    ],
    securityContext: restrictedContainer,
  };
  const container = defined<Container>({
    name,
    args: store.args,
    ...shared,
    ports: [{ name, containerPort: STORE_PORTS[name], protocol: 'TCP' }],
    resources: store.resources,
    startupProbe: { ...probe, periodSeconds: 2, failureThreshold: 150 },
    readinessProbe: { ...probe, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
  });
  if (!before) return { containers: [container] };
  const resources = sized('50m', '64Mi', { cpu: '1', memory: '1Gi' });
  const init = { name: before.name, command: ['sh', '-c', before.script], resources, ...shared };
  return { initContainers: [init], containers: [container] };
}

/** Only the Secret values that the pod reads, so that restoring an unrelated Secret restarts nothing. */
const valuesOf = ({ secrets }: Context, { env }: Store): (string | undefined)[] =>
  Object.values(env).flatMap((value) => (isSecret(value) ? [secrets.get(value.name)?.[value.key]] : []));

function template(context: Context, store: Store): PodTemplate {
  const { server, secrets } = context;
  const { name, user, grace } = store;
  return {
    metadata: {
      labels: selectorOf(server, name),
      annotations: { [CHECKSUM]: fingerprint(server, secrets, valuesOf(context, store)) },
    },
    spec: defined({
      serviceAccountName: server.name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: grace,
      imagePullSecrets: server.spec.imagePullSecrets,
      securityContext: restrictedPod(user, user),
      ...containers(context, store),
      volumes: folders(store).map(([volume, , emptyDir]) => ({ name: volume, emptyDir })),
    }),
  };
}

/** The Service has a cluster IP: a headless Service would not resolve while its only pod is down. */
function storeObjects(context: Context, wanted: Store): Manifest<'Service' | 'StatefulSet'>[] {
  const { server, volumes } = context;
  const { name } = wanted;
  const inForce = volumes.has(name) ? { storage: undefined, ...volumes.get(name) } : {};
  const store = { ...wanted, ...inForce };
  const { storage } = store;
  const part = { suffix: name, component: name };
  const service: Manifest<'Service'> = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metaOf(server, part),
    spec: {
      type: 'ClusterIP',
      selector: selectorOf(server, name),
      ports: [{ name, port: STORE_PORTS[name], targetPort: name, protocol: 'TCP' }],
    },
  };
  const set: Manifest<'StatefulSet'> = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metaOf(server, part),
    spec: {
      replicas: 1,
      revisionHistoryLimit: 3,
      podManagementPolicy: 'Parallel', // OrderedReady would wait forever for a pod with a wrong image, even after a correction
      serviceName: nameOf(server, name),
      selector: { matchLabels: selectorOf(server, name) },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      template: template(context, store),
      ...(storage !== undefined && { volumeClaimTemplates: [claim(server, store)] }),
    },
  };
  return [service, set];
}

const key = (name: string, of: string): EnvValue => ({ name, key: of });

function postgres(context: Context): Store[] {
  const { server, images } = context;
  const { managed } = server.spec.postgres;
  if (!managed) return [];
  const secret = nameOf(server, 'postgres');
  const path = '/var/lib/postgresql/data';
  return [
    {
      name: 'postgres',
      image: images.postgres,
      user: 999,
      env: {
        PGDATA: `${path}/pgdata`,
        POSTGRES_DB: key(secret, 'database'),
        POSTGRES_INITDB_ARGS: INITDB_ARGS,
        POSTGRES_USER: key(secret, 'username'),
        POSTGRES_PASSWORD: key(secret, 'password'),
      },
      path,
      before: { name: 'password', script: BEFORE_POSTGRES },
      storage: managed.storage ?? '10Gi',
      storageClassName: managed.storageClassName,
      writable: { '/tmp': {}, '/var/run/postgresql': {}, '/dev/shm': { medium: 'Memory', sizeLimit: '256Mi' } },
      probe: { exec: { command: ['pg_isready', '-q', '-h', '127.0.0.1', '-U', 'foyer', '-d', 'foyer'] } },
      resources: sized('100m', '256Mi', { cpu: '2', memory: '2Gi' }),
      grace: 60,
    },
  ];
}

function redis(context: Context): Store[] {
  const { server, images } = context;
  const { managed } = server.spec.redis;
  if (!managed) return [];
  const durable = managed.storage !== undefined;
  return [
    {
      name: 'redis',
      image: images.redis,
      user: 999,
      args: [
        ...['--requirepass', '$(REDIS_PASSWORD)', '--dir', '/data', '--maxmemory-policy', 'noeviction'],
        ...['--appendonly', durable ? 'yes' : 'no', '--save', ''],
      ],
      env: { REDIS_PASSWORD: key(nameOf(server, 'redis'), 'password') },
      path: '/data',
      storage: managed.storage,
      writable: { '/tmp': {} },
      probe: { tcpSocket: { port: 'redis' } },
      resources: sized('50m', '64Mi', { cpu: '1', memory: '512Mi' }),
      grace: 30,
    },
  ];
}

function minio(context: Context): Store[] {
  const { server, images } = context;
  const { managed } = server.spec.objects;
  if (!managed) return [];
  const secret = nameOf(server, 'objects');
  return [
    {
      name: 'objects',
      image: images.minio,
      user: 1000,
      args: ['server', '/data', '--address', `:${STORE_PORTS.objects}`],
      // It requires a folder for certificates in its home directory.
      env: { HOME: '/tmp', MINIO_ROOT_USER: key(secret, 'accessKey'), MINIO_ROOT_PASSWORD: key(secret, 'secretKey') },
      path: '/data',
      storage: managed.storage ?? '20Gi',
      storageClassName: managed.storageClassName,
      writable: { '/tmp': {} },
      probe: { httpGet: { path: '/minio/health/live', port: 'objects' } },
      resources: sized('100m', '256Mi', { cpu: '2', memory: '1Gi' }),
      grace: 30,
    },
  ];
}

export const managedStores = (context: Context): Manifest<'Service' | 'StatefulSet'>[] =>
  [...postgres(context), ...redis(context), ...minio(context)].flatMap((store) => storeObjects(context, store));

/** A Cluster of CloudNativePG, which creates the Secret `<name>-app` with the URL. */
export function cloudNativePGCluster({ server, images }: Context): Manifest<'Cluster'>[] {
  const { cloudNativePG } = server.spec.postgres;
  if (!cloudNativePG) return [];
  const { instances, storage } = cloudNativePG;
  const { imagePullPolicy, imagePullSecrets } = server.spec;
  const cluster: Manifest<'Cluster'> = {
    apiVersion: 'postgresql.cnpg.io/v1',
    kind: 'Cluster',
    metadata: metaOf(server, { suffix: 'postgres', component: 'postgres', keep: true }),
    spec: defined({
      instances,
      imageName: images.cloudNativePG,
      imagePullPolicy,
      imagePullSecrets,
      storage: { size: String(storage) },
      bootstrap: { initdb: { database: 'foyer', owner: 'foyer' } },
    }),
  };
  return [cluster];
}

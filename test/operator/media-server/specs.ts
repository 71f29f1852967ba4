// Specs that between them use every part.
import type { KubeObject } from '#operator/runtime/kube.ts';
import { CANARY, MemoryKube, mediaServer, secret, World } from './support.ts';

type Plain = Record<string, unknown>;

export const managed: Plain = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
const external: Plain = {
  postgres: { secretRef: { name: 'database' } },
  redis: { secretRef: { name: 'cache' } },
  objects: { secretRef: { name: 's3' }, bucketPrefix: 'our-' },
};
const gpu = {
  resourceName: 'nvidia.com/gpu',
  kind: 'nvenc',
  runtimeClassName: 'nvidia',
  nodeSelector: { gpu: 'yes' },
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
};

export const specs: Record<string, Plain> = {
  quickstart: managed,
  external: {
    ...external,
    email: { secretRef: { name: 'mail' } },
    oidc: { issuer: 'https://login.example', clientId: 'foyer', clientSecretRef: { name: 'oidc' } },
    settings: { 'server.name': 'Ours', 'music.listenBrainzToken': { secretRef: { name: 'mail', key: 'token' } } },
    metadata: { keysSecretRef: { name: 'catalogues' } },
    network: { trustedProxies: ['10.0.0.0/8'], allow: { webhooks: ['192.168.1.0/24'], live: ['10.9.0.0/16'] } },
  },
  cloudNativePG: {
    ...managed,
    postgres: { cloudNativePG: { instances: 2, storage: '20Gi', image: 'pg:18' } },
    imagePullSecrets: [{ name: 'pull' }],
    gateway: { parentRefs: [{ name: 'door', namespace: 'edge' }], hostnames: ['films.example'] },
  },
  gpu: {
    ...managed,
    transcode: {
      accelerator: { ...gpu, supplementalGroups: [44, 109] },
      warm: 2,
      max: 3,
      priorityClassName: 'high',
    },
    subtitles: {
      accelerator: gpu,
      model: 'small',
      language: 'de',
      modelVolume: { persistentVolumeClaim: { claimName: 'models' } },
    },
  },
  speech: {
    ...managed,
    subtitles: {
      scaleToZero: true,
      idleSeconds: 60,
      image: 'our/speech:2',
      modelObjects: { prefix: 'base/', sha256: 'a'.repeat(64) },
    },
  },
  autoscaled: {
    ...managed,
    api: {
      autoscaling: { min: 2, max: 5 },
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '2Gi' } },
    },
    ingress: { host: 'films.example', className: 'nginx', tls: { issuerRef: { name: 'le', kind: 'ClusterIssuer' } } },
    workers: { replicas: 3 },
  },
  media: {
    ...managed,
    media: [
      { name: 'films', persistentVolumeClaim: { claimName: 'films', subPath: 'a/b' } },
      { name: 'shows', nfs: { server: 'nas', path: '/shows' } },
      { name: 'recordings', hostPath: { path: '/srv/rec', type: 'Directory' }, readOnly: false },
      { name: 'cloud', s3: { endpoint: 'https://s3.example', bucket: 'cloud', secretRef: { name: 's3' } } },
    ],
  },
  mirrored: {
    redis: { managed: { storage: '1Gi' } },
    postgres: { managed: { storage: '50Gi', storageClassName: 'fast', image: 'own/pg:18' } },
    objects: { managed: { storage: '1Ti' } },
    registry: 'mirror.example:5000',
    version: '1.2.3',
    imagePullPolicy: 'Always',
    imagePullSecrets: [{ name: 'pull' }],
    ownerSecretRef: { name: 'owner' },
    networkPolicy: { enabled: false },
  },
  monitored: {
    ...managed,
    api: { replicas: 1 },
    monitoring: { serviceMonitor: true, prometheusRule: true, dashboard: true },
    transcode: { warm: 0, max: 0 },
  },
};

const claim = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'media' },
});

/** Everything that the specs name. */
export const named: KubeObject[] = [
  secret('database', { uri: `postgres://u:${CANARY}-1@db.other:6432/foyer` }),
  secret('cache', { uri: `rediss://:${CANARY}-2@redis.other:6380` }),
  secret('s3', { endpoint: 'https://s3.other', accessKey: `${CANARY}-3`, secretKey: `${CANARY}-4`, region: 'here' }),
  secret('mail', {
    host: 'smtp.example',
    port: '2525',
    from: 'a@example',
    password: `${CANARY}-5`,
    token: `${CANARY}-6`,
  }),
  secret('catalogues', { 'tmdb.apiKey': `${CANARY}-10` }),
  secret('oidc', { clientSecret: `${CANARY}-7` }),
  secret('owner', { username: 'ann', password: `${CANARY}-8` }),
  secret('home-postgres-app', { uri: `postgres://app:${CANARY}-9@home-postgres-rw.media:5432/foyer` }),
  claim('films'),
  claim('models'),
];

export const world = (spec: Plain = managed): World => new World(mediaServer(spec), new MemoryKube().put(...named));

/** At rest. */
export async function running(spec: Plain = managed): Promise<World> {
  const made = world(spec);
  await made.settle();
  return made;
}

export const imageOf = (object: KubeObject | undefined): string | undefined =>
  (object?.spec as { template: { spec: { containers: { image: string }[] } } } | undefined)?.template.spec.containers[0]
    ?.image;

export const specOf = (made: World, kind: string, name: string): Plain =>
  (made.kube.get(kind, 'media', name)?.spec ?? {}) as Plain;

const phaseOf = ({ metadata }: KubeObject): string => metadata.annotations?.['foyer.media/phase'] ?? '';
export const jobs = (made: World, phase: string): KubeObject[] =>
  made.kube.list('Job', 'media').filter((job) => phaseOf(job) === phase);
export const texts = (made: World, name: string): Record<string, string> => {
  const data = (made.kube.get('Secret', 'media', name)?.data ?? {}) as Record<string, string>;
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
};

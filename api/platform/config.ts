import { hostname } from 'node:os';
import { z } from 'zod';
import { type CatalogueKeyName, keysOfEnvironment } from './catalogue-keys.ts';

/** JSON in an environment variable. */
const jsonOf = <S extends z.ZodType>(schema: S) =>
  z.string().transform((text, context): z.output<S> => {
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      context.addIssue({ code: 'custom', message: String(error) });
      return z.NEVER;
    }
  });

export const ManagedBy = z.strictObject({
  kind: z.enum(['MediaServer', 'Library', 'TunerDevice']),
  namespace: z.string().max(253).meta({ example: 'media' }),
  name: z.string().max(253).meta({ example: 'home' }),
  uid: z.string().max(100).meta({ example: '5b1f5d2e-9f0c-4a55-8f0e-3f1f6f0c2a11' }),
});
export type ManagedBy = z.output<typeof ManagedBy>;

const MediaRoot = z.object({
  /** Id of the storage that serves this root. */
  id: z.uuid(),
  name: z.string(),
  /** Absolute path of the mount in this process. */
  path: z.string(),
  readOnly: z.boolean().default(true),
});
export type MediaRoot = z.output<typeof MediaRoot>;

/** Public keys only: a key that can sign licences does not belong here. `iss` binds a key to one issuer. */
const PlusKey = z
  .looseObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.base64url().length(43),
    kid: z.string().max(200).optional(),
    iss: z.string().max(200).optional(),
  })
  .refine((key) => !('d' in key), { error: 'a private key' });
export type PlusKey = z.output<typeof PlusKey>;
const PlusVerifier = z.object({ keys: z.array(PlusKey).min(1).max(50) }).transform(({ keys }) => keys);

/** A bucket of spec.backup with its secret. */
const DeclaredPlace = z.object({
  endpoint: z.url({ protocol: /^https?$/ }),
  region: z.string().optional(),
  bucket: z.string().min(1),
  prefix: z.string().optional(),
  pathStyle: z.boolean().default(true),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
});
const DeclaredBackup = z.object({
  schedule: z.string(),
  keep: z.object({ last: z.int(), daily: z.int(), weekly: z.int(), monthly: z.int() }),
  destination: DeclaredPlace,
  copyTo: DeclaredPlace.optional(),
  passphrase: z.string().min(1).optional(),
});
export type DeclaredBackup = z.output<typeof DeclaredBackup>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Names of the store volumes that the operator manages. */
const StoreVolumes = z.object({ postgres: z.string().optional(), objects: z.string().optional() });

const Environment = z.object({
  FOYER_DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//),
  FOYER_REDIS_URL: z.string().regex(/^rediss?:\/\//),
  FOYER_OBJECTS_URL: z.string().regex(/^(file|s3):\/\//),
  FOYER_KEYS_FILE: z.string().min(1),
  FOYER_MEDIA_ROOTS: jsonOf(z.array(MediaRoot)).default([]),
  FOYER_HOST: z.string().default('127.0.0.1'),
  FOYER_PORT: z.coerce.number().int().min(0).max(65535).default(8080),
  FOYER_SCRATCH_DIR: z.string().default('/tmp/foyer'),
  FOYER_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  FOYER_METRICS_PORT: z.coerce.number().int().min(0).max(65535).default(0),
  FOYER_CLAIM_SHA256: Sha256.optional(),
  FOYER_CLAIM_FROM: z.enum(['secret', 'log', 'link', 'none']).default('none'),
  FOYER_OPEN_SETUP: z.enum(['0', '1']).default('0'),
  FOYER_OPERATOR_KEY_SHA256: Sha256.optional(),
  FOYER_OWNER_FILE: z.string().optional(),
  FOYER_SETTINGS: jsonOf(z.record(z.string(), z.unknown())).default({}),
  FOYER_MANAGED_BY: jsonOf(ManagedBy).optional(),
  FOYER_BRANDING_DIR: z.string().optional(),
  FOYER_STORE_VOLUMES: jsonOf(StoreVolumes).default({}),
  FOYER_CATALOGUE_KEYS: jsonOf(z.record(z.string(), z.string())).optional(),
  FOYER_PARSER_URL: z.url({ protocol: /^http$/ }).optional(),
  FOYER_MEDIA_RELAY: z.url({ protocol: /^http$/ }).optional(),
  FOYER_PLUS_VERIFIER: jsonOf(PlusVerifier).optional(),
  FOYER_PLUS_LICENCE: z.string().optional(),
  FOYER_REPLICAS: z.coerce.number().int().min(1).default(1),
  FOYER_SERVER_NAME: z.string().default('Foyer'),
  FOYER_TRUSTED_PROXIES: jsonOf(z.array(z.string())).default([]),
  FOYER_WEBHOOK_NETWORKS: jsonOf(z.array(z.string())).default([]),
  FOYER_LIVE_NETWORKS: jsonOf(z.array(z.string())).default([]),
  FOYER_BACKUP: jsonOf(DeclaredBackup).optional(),
  FOYER_BACKUP_NETWORKS: jsonOf(z.array(z.string())).default([]),
  FOYER_STORAGE_NETWORKS: jsonOf(z.array(z.string())).default([]),
  FOYER_CLUSTER_NETWORKS: jsonOf(z.array(z.string())).default([]),
  FOYER_MAX_SESSIONS: z.coerce.number().int().min(1).default(3),
  FOYER_WORKER_CONCURRENCY: z.coerce.number().int().min(1).default(4),
  FOYER_DRAIN_MS: z.coerce.number().int().min(0).default(1000),
  FOYER_PASSWORD_MEMORY_KIB: z.coerce.number().int().min(19_456).max(1_048_576).default(19_456),
  FOYER_PASSWORD_PASSES: z.coerce.number().int().min(2).max(20).default(2),
  FOYER_POD: z.string().default(`local-${process.pid}`),
  FOYER_NODE: z.string().default(hostname()),
  /** Set by the cluster in each of its pods. */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
});

/** The configuration of a process, read once. */
export interface Config {
  databaseUrl: string;
  redisUrl: string;
  objectsUrl: string;
  keysFile: string;
  mediaRoots: MediaRoot[];
  host: string;
  port: number;
  scratchDir: string;
  logLevel: string;
  metricsPort: number;
  claimSha256: string | undefined;
  claimFrom: 'secret' | 'log' | 'link' | 'none';
  /** No claim code is required over loopback. */
  openSetup: boolean;
  operatorKeySha256: string | undefined;
  ownerFile: string | undefined;
  /** Settings that the MediaServer resource declares. */
  declaredSettings: Record<string, unknown>;
  managedBy: ManagedBy | undefined;
  /** Folder with a file for each key of `spec.branding`. */
  brandingDir: string | undefined;
  /** Keys of catalogues from the environment. */
  catalogueKeys: Partial<Record<CatalogueKeyName, string>>;
  /** Keys of catalogues that the resource declares; absent when it declares none. */
  declaredCatalogueKeys: Partial<Record<CatalogueKeyName, string>> | undefined;
  /** Address of the parser pods; without one, sandboxed processes of this machine open foreign files. */
  parserUrl: string | undefined;
  /** Address of API pods by which a process without keys reads files of remote storages. */
  mediaRelay: string | undefined;
  /** Volumes of stores that the operator runs for this server. */
  storeVolumes: z.output<typeof StoreVolumes>;
  /** Public keys for verifying licences; without any, every feature is available. */
  plusVerifier: PlusKey[] | undefined;
  /** The licence that the resource declares. */
  plusLicence: string | undefined;
  replicas: number;
  serverName: string;
  trustedProxies: string[];
  /** CIDRs of `spec.network.allow.webhooks`. */
  webhookNetworks: string[];
  /** CIDRs of `spec.network.allow.live`. */
  liveNetworks: string[];
  /** Backups as the resource declares them. */
  declaredBackup: DeclaredBackup | undefined;
  /** CIDRs allowed for backup buckets although they are closed by default. */
  backupNetworks: string[];
  /** CIDRs allowed for remote storages although they are closed by default. */
  storageNetworks: string[];
  /** The cluster's API server: closed to addresses that users enter. */
  apiServerNetworks: string[];
  /** CIDRs of the cluster's pods and services: closed to addresses that users enter. */
  clusterNetworks: string[];
  maxSessions: number;
  workerConcurrency: number;
  /** Time between becoming unready and closing the listener. */
  drainMs: number;
  /** Cost of argon2id for passwords; after an increase, passwords are hashed again at the next sign-in. */
  passwordCost: { memoryKib: number; passes: number };
  pod: string;
  /** The machine on which the process runs. */
  node: string;
}

/** Throws an error that names every invalid variable but no values, because some are secret. */
export function parseEnvironment<T extends z.ZodType>(schema: T, environment: NodeJS.ProcessEnv): z.output<T> {
  const parsed = schema.safeParse(environment);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.code}`);
  throw new Error(`configuration: ${faults.join('; ')}`);
}

/** Throws like `parseEnvironment`. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const e = parseEnvironment(Environment, environment);
  return {
    databaseUrl: e.FOYER_DATABASE_URL,
    redisUrl: e.FOYER_REDIS_URL,
    objectsUrl: e.FOYER_OBJECTS_URL,
    keysFile: e.FOYER_KEYS_FILE,
    mediaRoots: e.FOYER_MEDIA_ROOTS,
    host: e.FOYER_HOST,
    port: e.FOYER_PORT,
    scratchDir: e.FOYER_SCRATCH_DIR,
    logLevel: e.FOYER_LOG_LEVEL,
    metricsPort: e.FOYER_METRICS_PORT,
    claimSha256: e.FOYER_CLAIM_SHA256,
    claimFrom: e.FOYER_CLAIM_FROM,
    openSetup: e.FOYER_OPEN_SETUP === '1',
    operatorKeySha256: e.FOYER_OPERATOR_KEY_SHA256,
    ownerFile: e.FOYER_OWNER_FILE,
    declaredSettings: e.FOYER_SETTINGS,
    managedBy: e.FOYER_MANAGED_BY,
    brandingDir: e.FOYER_BRANDING_DIR,
    catalogueKeys: keysOfEnvironment(environment),
    declaredCatalogueKeys: e.FOYER_CATALOGUE_KEYS,
    parserUrl: e.FOYER_PARSER_URL,
    mediaRelay: e.FOYER_MEDIA_RELAY,
    storeVolumes: e.FOYER_STORE_VOLUMES,
    plusVerifier: e.FOYER_PLUS_VERIFIER,
    plusLicence: e.FOYER_PLUS_LICENCE?.replace(/\s+/g, ''),
    replicas: e.FOYER_REPLICAS,
    serverName: e.FOYER_SERVER_NAME,
    trustedProxies: e.FOYER_TRUSTED_PROXIES,
    webhookNetworks: e.FOYER_WEBHOOK_NETWORKS,
    liveNetworks: e.FOYER_LIVE_NETWORKS,
    declaredBackup: e.FOYER_BACKUP,
    backupNetworks: e.FOYER_BACKUP_NETWORKS,
    storageNetworks: e.FOYER_STORAGE_NETWORKS,
    apiServerNetworks: e.KUBERNETES_SERVICE_HOST ? [e.KUBERNETES_SERVICE_HOST] : [],
    clusterNetworks: e.FOYER_CLUSTER_NETWORKS,
    maxSessions: e.FOYER_MAX_SESSIONS,
    workerConcurrency: e.FOYER_WORKER_CONCURRENCY,
    drainMs: e.FOYER_DRAIN_MS,
    passwordCost: { memoryKib: e.FOYER_PASSWORD_MEMORY_KIB, passes: e.FOYER_PASSWORD_PASSES },
    pod: e.FOYER_POD,
    node: e.FOYER_NODE,
  };
}

// The environment of pods: plain values, and references to Secrets.
import { declaredBackup } from '../../backup-environment.ts';
import { plusEnvironment } from '../../plus-environment.ts';
import type { EnvVar, Manifest } from '../../runtime/manifest.ts';
import {
  bucketUrl,
  declaredCatalogueKeys,
  declaredSettings,
  plainEnvironment,
  type Secrets,
} from '../../server-environment.ts';
import type { Server } from '../server.ts';
import { storeVolumes } from '../store-volumes.ts';
import {
  type Context,
  databaseKey,
  fingerprint,
  keysSecret,
  objectsSecret,
  redisKey,
  type SecretKey,
  serverIdOf,
} from './context.ts';
import { mediaRoots } from './media.ts';
import { metaOf, nameOf, secretObject } from './meta.ts';

export type EnvValue = string | SecretKey | { field: string };

export const API_PORT = 8080;
export const METRICS_PORT = 9090;
export const PARSER_PORT = 8082;
/** Status of a speech worker. */
export const SPEECH_PORT = 8081;
export const KEYS_FILE = '/etc/foyer/keys/keys.json';
export const SCRATCH = '/scratch';

/** A reference to a key of a Secret. */
export const isSecret = (value: EnvValue): value is SecretKey => typeof value === 'object' && 'key' in value;

/** The env of a container, sorted by name: another order would count as a change. */
export function envOf(values: Readonly<Record<string, EnvValue>>): EnvVar[] {
  return Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => {
      if (typeof value === 'string') return { name, value };
      if (isSecret(value)) return { name, valueFrom: { secretKeyRef: { name: value.name, key: value.key } } };
      return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: value.field } } };
    });
}

/**
 * Settings and the URL of the object store contain secrets. The name of the Secret depends on its content, so that a change
 * rolls the pods.
 */
export function environmentSecret(server: Server, secrets: Secrets): Manifest<'Secret'> {
  const { spec } = server;
  const backup = declaredBackup(spec, secrets);
  const catalogueKeys = declaredCatalogueKeys(spec, secrets);
  const texts = {
    FOYER_OBJECTS_URL: bucketUrl(secrets.get(objectsSecret(server)) ?? {}, spec.objects.bucketPrefix),
    FOYER_SETTINGS: JSON.stringify(declaredSettings(spec, secrets)),
    ...(backup !== undefined && { FOYER_BACKUP: backup }),
    ...(catalogueKeys !== undefined && { FOYER_CATALOGUE_KEYS: catalogueKeys }),
  };
  return secretObject(metaOf(server, { suffix: `environment-${fingerprint(server, secrets, texts)}` }), texts);
}

/** The credentials of ownerSecretRef in the format that the migration reads. */
export function ownerSecret(server: Server, secrets: Secrets): Manifest<'Secret'> | undefined {
  const ref = server.spec.ownerSecretRef;
  if (!ref) return undefined;
  const { username, password } = secrets.get(ref.name) ?? {};
  return secretObject(metaOf(server, { suffix: 'owner' }), { 'owner.json': JSON.stringify({ username, password }) });
}

const serverId = (server: Server, secrets: Secrets): string =>
  serverIdOf(secrets.get(keysSecret(server))?.['keys.json']) ?? server.uid;

/** The environment that all pods of the server share. */
export function podEnvironment({
  server,
  secrets,
  configMaps,
  environment,
  clusterNetworks,
}: Context): Record<string, EnvValue> {
  const { name, namespace, uid, spec } = server;
  return {
    ...plainEnvironment(spec, {
      keysFile: KEYS_FILE,
      mediaRoots: mediaRoots(spec, serverId(server, secrets)),
      host: '0.0.0.0',
      port: API_PORT,
      scratchDir: SCRATCH,
      managedBy: { kind: 'MediaServer', namespace, name, uid },
      clusterNetworks,
    }),
    FOYER_METRICS_PORT: String(METRICS_PORT),
    FOYER_CLAIM_FROM: spec.ownerSecretRef ? 'none' : 'secret',
    FOYER_DATABASE_URL: databaseKey(server),
    FOYER_REDIS_URL: redisKey(server),
    FOYER_OBJECTS_URL: { name: environment, key: 'FOYER_OBJECTS_URL' },
    FOYER_SETTINGS: { name: environment, key: 'FOYER_SETTINGS' },
    ...(spec.backup && { FOYER_BACKUP: { name: environment, key: 'FOYER_BACKUP' } }),
    ...(spec.metadata?.keysSecretRef && {
      FOYER_CATALOGUE_KEYS: { name: environment, key: 'FOYER_CATALOGUE_KEYS' },
    }),
    FOYER_POD: { field: 'metadata.name' },
    ...plusEnvironment<EnvValue>(spec, {
      configMaps,
      secret: ({ name: of, key }) => ({ name: of, key }),
    }),
  };
}

/** For components that accept uploaded pictures. */
export const parserEnvironment = (server: Server): Record<string, EnvValue> => ({
  FOYER_PARSER_URL: `http://${nameOf(server, 'parser')}:${PARSER_PORT}`,
});

/** For components that decode media: they have no keys, so the API reads remote files for them. */
export const relayEnvironment = (server: Server): Record<string, EnvValue> => ({
  FOYER_MEDIA_RELAY: `http://${nameOf(server, 'api')}:${METRICS_PORT}`,
});

/** For components that measure the volumes of managed stores. */
export function volumesEnvironment(server: Server): Record<string, EnvValue> {
  const volumes = storeVolumes(server);
  return Object.keys(volumes).length > 0 ? { FOYER_STORE_VOLUMES: JSON.stringify(volumes) } : {};
}

/** Changes with the Secrets that pods reference, so that a change rolls the pods. */
export function podChecksum({ server, secrets }: Context): string {
  const read = ({ name, key }: SecretKey): string | undefined => secrets.get(name)?.[key];
  const keys = { name: nameOf(server, 'keys'), key: 'keys.json' };
  const licence = server.spec.plus?.licenceSecretRef;
  const named = [databaseKey(server), redisKey(server), keys, ...(licence ? [licence] : [])];
  return fingerprint(server, secrets, named.map(read));
}

// Errors in the resource. Nothing is rolled out until they are fixed. Pure.
import { verifierFault } from '../plus-environment.ts';
import { keysWanted, type Reference, referencesIn } from '../references.ts';
import type { Reason } from '../schemas/conditions.ts';
import { databaseKey, objectsSecret, redisKey, type SecretKey, serverIdOf } from './desired/context.ts';
import { nameOf } from './desired/meta.ts';
import { lostSecrets } from './lost-secrets.ts';
import type { Observed } from './observed.ts';
import type { Server } from './server.ts';
import { withStores } from './stores-in-use.ts';

export interface Fault {
  /** The condition that reports it. */
  type: 'DatabaseReady' | 'RedisReady' | 'ObjectsReady' | 'MediaReady' | 'SettingsValid';
  reason: Reason;
  message: string;
  /** Managed stores are not changed meanwhile: their pods could not start, or would lock out their clients. */
  holdsStores?: true;
}

const TYPES: Record<string, Fault['type']> = {
  postgres: 'DatabaseReady',
  redis: 'RedisReady',
  objects: 'ObjectsReady',
  media: 'MediaReady',
};

function referenceFaults(reference: Reference, { secrets, configMaps }: Observed): Fault[] {
  const { path, of, name } = reference;
  const type = TYPES[String(path[1])] ?? 'SettingsValid';
  const at = path.join('.');
  if (of === 'ConfigMap') {
    if (configMaps.has(name)) return [];
    return [{ type, reason: 'ConfigMapMissing', message: `${at}: ConfigMap ${name} does not exist: create it` }];
  }
  const values = secrets.get(name);
  if (!values) return [{ type, reason: 'SecretMissing', message: `${at}: Secret ${name} does not exist: create it` }];
  const absent = keysWanted(reference).filter((key) => !values[key]);
  return absent.map((key) => ({
    type,
    reason: 'SecretInvalid',
    message: `${at}: Secret ${name} has no key ${key}: add it`,
  }));
}

/** Claims that pods mount. */
function claimsOf({ spec }: Server): { at: string; name: string }[] {
  const media = spec.media.flatMap(({ name, persistentVolumeClaim: claim }) =>
    claim ? [{ at: `spec.media[${name}]`, name: claim.claimName }] : [],
  );
  const models = spec.subtitles?.modelVolume?.persistentVolumeClaim;
  return [...media, ...(models ? [{ at: 'spec.subtitles.modelVolume', name: models.claimName }] : [])];
}

function claimFaults(server: Server, { claims }: Observed): Fault[] {
  const type = 'MediaReady';
  return claimsOf(server).flatMap(({ at, name }): Fault[] => {
    const claim = `${at}: PersistentVolumeClaim ${name}`;
    if (!claims.has(name))
      return [{ type, reason: 'VolumeMissing', message: `${claim} does not exist: create it, or correct the name` }];
    if (claims.get(name) !== 'one-pod') return [];
    const message = `${claim} is ReadWriteOncePod, and several pods mount it: use a ReadWriteMany claim, or a ReadWriteOnce one, whose pods run on one node`;
    return [{ type, reason: 'VolumeNotShared', message }];
  });
}

interface Address extends SecretKey {
  type: Fault['type'];
  schemes: RegExp;
  like: string;
}

/** The value is not a valid URL. It is not repeated in the message, since it may contain a password. */
function addressFaults({ type, name, key, schemes, like }: Address, { secrets }: Observed): Fault[] {
  const value = secrets.get(name)?.[key];
  if (!value || (schemes.test(value) && URL.canParse(value))) return [];
  const message = `Secret ${name}: the value of ${key} is not a URL such as ${like}: correct it`;
  return [{ type, reason: 'SecretInvalid', message }];
}

function notServed({ spec }: Server, { served }: Observed): Fault[] {
  if (!spec.postgres.cloudNativePG || served.has('Cluster')) return [];
  const message =
    'spec.postgres.cloudNativePG needs the operator CloudNativePG: install it, or use managed or secretRef';
  return [{ type: 'DatabaseReady', reason: 'NotServed', message }];
}

/** A key ring that was modified. */
function ringFaults({ name }: Server, { secrets }: Observed): Fault[] {
  const keys = secrets.get(`${name}-keys`);
  if (!keys || serverIdOf(keys['keys.json'])) return [];
  const what = keys['keys.json'] ? 'contains no valid key ring in keys.json' : 'has no key keys.json';
  const message = `Secret ${name}-keys ${what}: restore it from a backup, sealed values of the server cannot be read without it`;
  return [{ type: 'SettingsValid', reason: 'SecretInvalid', message, holdsStores: true }];
}

const STORE_KEYS = {
  postgres: ['username', 'password', 'database', 'uri'],
  redis: ['password', 'uri'],
  objects: ['endpoint', 'accessKey', 'secretKey'],
} as const;
type StoreName = keyof typeof STORE_KEYS;

/** Secrets of managed stores that were modified, or copied from another namespace. */
function storeFaults(server: Server, { secrets }: Observed): Fault[] {
  const managed = (Object.keys(STORE_KEYS) as StoreName[]).filter((store) => server.spec[store].managed);
  return managed.flatMap((store) => {
    const values = secrets.get(nameOf(server, store));
    const wrong = values && wrongIn(server, store, values);
    if (!wrong) return [];
    const message = `Secret ${nameOf(server, store)} ${wrong}`;
    return [{ type: TYPES[store] ?? 'SettingsValid', reason: 'SecretInvalid', message, holdsStores: true }];
  });
}

function wrongIn(server: Server, store: StoreName, values: Readonly<Record<string, string>>): string | undefined {
  const absent = STORE_KEYS[store].filter((key) => !values[key]);
  if (absent.length > 0) return `has no key ${absent.join(', ')}: add it`;
  const key = store === 'objects' ? 'endpoint' : 'uri';
  const text = values[key] ?? '';
  if (!URL.canParse(text)) return undefined; // addressFaults reports it
  const { hostname, password } = new URL(text);
  const own = nameOf(server, store);
  const hosts = [own, `${own}.${server.namespace}`, `${own}.${server.namespace}.svc`];
  if (!hosts.includes(hostname) && !hostname.startsWith(`${own}.${server.namespace}.svc.`))
    return `has another host, ${hostname}: set ${own} as the host of its ${key}`;
  if (store === 'objects') return undefined;
  const decoded = decodedOf(password);
  if (decoded === undefined) return 'has a password in uri that is not percent-encoded: write % as %25';
  if (decoded !== values.password) return 'has one password in password and another in uri: write the same one in both';
  return undefined;
}

function decodedOf(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const settingsFault = (reason: Reason, message: string): Fault => ({ type: 'SettingsValid', reason, message });

function plusFaults({ spec }: Server, { configMaps }: Observed): Fault[] {
  const fault = verifierFault(spec, configMaps);
  return fault === undefined ? [] : [settingsFault('SpecInvalid', fault)];
}

/** Valid values of the Secret of spec.email, with an example for the message. */
const MAIL: Record<string, [taken: (value: string) => boolean, like: string]> = {
  port: [(value) => /^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) < 65_536, 'port such as 587'],
  security: [(value) => ['tls', 'starttls', 'none'].includes(value), 'tls, starttls or none'],
  from: [(value) => value.includes('@'), 'address such as foyer@example.com'],
};

/** Values that the server would ignore: mail would be sent in another way, or not at all. */
function mailFaults({ spec }: Server, { secrets }: Observed): Fault[] {
  const name = spec.email?.secretRef.name ?? '';
  const values = secrets.get(name) ?? {};
  return Object.entries(MAIL).flatMap(([key, [taken, like]]) => {
    const value = values[key];
    if (!spec.email || !value || taken(value)) return [];
    return [
      settingsFault('SecretInvalid', `Secret ${name}: the value of ${key} is not valid (expected ${like}): correct it`),
    ];
  });
}

export function faultsOf(server: Server, observed: Observed): Fault[] {
  const database = {
    ...databaseKey(server),
    schemes: /^postgres(ql)?:\/\//,
    like: 'postgres://user:password@host:5432/name',
  };
  const redis = { ...redisKey(server), schemes: /^rediss?:\/\//, like: 'redis://user:password@host:6379' };
  const objects = { name: objectsSecret(server), key: 'endpoint', schemes: /^https?:\/\//, like: 'https://host:9000' };
  const serverWithStores = withStores(server, observed.release?.managed);
  return [
    ...lostSecrets(serverWithStores, observed).map((lost): Fault => ({ ...lost, holdsStores: true })),
    ...referencesIn(server.spec, ['spec']).flatMap((reference) => referenceFaults(reference, observed)),
    ...claimFaults(server, observed),
    ...addressFaults({ ...database, type: 'DatabaseReady' }, observed),
    ...addressFaults({ ...redis, type: 'RedisReady' }, observed),
    ...addressFaults({ ...objects, type: 'ObjectsReady' }, observed),
    ...plusFaults(server, observed),
    ...mailFaults(server, observed),
    ...notServed(server, observed),
    ...ringFaults(server, observed),
    ...storeFaults(serverWithStores, observed),
  ];
}

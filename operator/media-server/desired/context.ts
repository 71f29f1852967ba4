// Everything that builders take.
import { createHmac } from 'node:crypto';
import type { ConfigMaps } from '../../plus-environment.ts';
import { canonical } from '../../runtime/canonical.ts';
import type { Secrets } from '../../server-environment.ts';
import type { Server } from '../server.ts';
import type { Images } from './images.ts';

export interface SecretKey {
  name: string;
  key: string;
}

export interface StoreVolume {
  storage: string;
  storageClassName?: string | undefined;
  /** Of the claim. */
  annotations?: Record<string, string> | undefined;
}

export interface Context {
  server: Server;
  images: Images;
  /** CIDRs of the cluster's pods and services, as far as the operator was told. */
  clusterNetworks: readonly string[];
  /** Those that the resource names and those made for it, this pass included. */
  secrets: Secrets;
  /** Those that the resource names. */
  configMaps: ConfigMaps;
  /** Holds settings and the address of the object store; named by its content. */
  environment: string;
  /** Names of claims that one node at a time can mount. */
  oneNode: ReadonlySet<string>;
  /** Volumes that stores have already: nothing of them can be changed through a StatefulSet. */
  volumes: ReadonlyMap<string, StoreVolume | undefined>;
  /** SHA-256 of the claim code, in hex, while or once there was one. */
  claimSha256: string | undefined;
}

/** Where the database's address stands. */
export function databaseKey({ name, spec }: Server): SecretKey {
  const { secretRef, cloudNativePG } = spec.postgres;
  if (secretRef) return secretRef;
  return { name: cloudNativePG ? `${name}-postgres-app` : `${name}-postgres`, key: 'uri' };
}

export const redisKey = ({ name, spec }: Server): SecretKey =>
  spec.redis.secretRef ?? { name: `${name}-redis`, key: 'uri' };

/** The Secret with endpoint, accessKey and secretKey. */
export const objectsSecret = ({ name, spec }: Server): string => spec.objects.secretRef?.name ?? `${name}-objects`;

export const keysSecret = ({ name }: Pick<Server, 'name'>): string => `${name}-keys`;

/** Of a key ring; undefined where it is half a file, or none. Pods read it whole at their start. */
export function serverIdOf(ring: string | undefined): string | undefined {
  try {
    const read = JSON.parse(ring ?? '') as { serverId?: unknown } | null;
    return typeof read?.serverId === 'string' ? read.serverId : undefined;
  } catch {
    return undefined;
  }
}

/** What of the server's key ring stays when its keys are rotated, also in one that somebody broke; all of a ring that has no such part. */
function lastingKey(server: Pick<Server, 'name'>, secrets: Secrets): string {
  const text = secrets.get(keysSecret(server))?.['keys.json'] ?? '';
  const found = /"cursor"\s*:\s*"([^"]+)"/.exec(text);
  return found?.[1] ?? text;
}

/**
 * Says that values changed, and nothing about them: keyed by the server's own key ring, so that it cannot be tried against
 * likely passwords, and by what lasts of it, so that its rotation restarts nothing that does not read it. Short enough for a name. Members in any order: a Secret comes back from the API server in another than it was made in.
 */
export function fingerprint(server: Pick<Server, 'name'>, secrets: Secrets, values: unknown): string {
  return createHmac('sha256', lastingKey(server, secrets)).update(canonical(values)).digest('hex').slice(0, 10);
}

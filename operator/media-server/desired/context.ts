// Everything that builders take.
import { createHmac } from 'node:crypto';
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
  /** Holds settings and the address of the object store; named by its content. */
  environment: string;
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

/**
 * Says that values changed, and nothing about them: keyed by the server's own key ring, so that it cannot be tried against
 * likely passwords. Short enough for a name. Members in any order: a Secret comes back from the API server in another than it was made in.
 */
export function fingerprint(server: Pick<Server, 'name'>, secrets: Secrets, values: unknown): string {
  const key = secrets.get(keysSecret(server))?.['keys.json'] ?? '';
  return createHmac('sha256', key).update(canonical(values)).digest('hex').slice(0, 10);
}

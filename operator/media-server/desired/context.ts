// The input of all builders.
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
  /** Annotations of the claim. */
  annotations?: Record<string, string> | undefined;
}

/** The speech workers of a pass. */
export interface SpeechPlan {
  replicas: number;
  /** When no GPU was available, as an ISO time: the workers run on the CPU since then. */
  fallback: string | undefined;
}

export interface Context {
  server: Server;
  images: Images;
  /** CIDRs of the cluster's pods and services, as far as they are configured. */
  clusterNetworks: readonly string[];
  /** Secrets that the resource references and those created for it, including those of this pass. */
  secrets: Secrets;
  /** ConfigMaps that the resource references. */
  configMaps: ConfigMaps;
  /** Name of the Secret with the settings and the URL of the object store; it contains a digest of its values. */
  environment: string;
  /** Claims that only one node at a time can mount. */
  oneNode: ReadonlySet<string>;
  /** Volumes of existing StatefulSets: volumeClaimTemplates cannot be changed. */
  volumes: ReadonlyMap<string, StoreVolume | undefined>;
  /** The size and the device of the speech workers. */
  speech: SpeechPlan;
  /** SHA-256 of the claim code, in hex; it stays after the code was deleted. */
  claimSha256: string | undefined;
}

/** Secret key with the database URL. */
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

/** The server id of a key ring; undefined for a damaged or missing one. Pods read the ring at their start. */
export function serverIdOf(ring: string | undefined): string | undefined {
  try {
    const read = JSON.parse(ring ?? '') as { serverId?: unknown } | null;
    return typeof read?.serverId === 'string' ? read.serverId : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The part of the server's key ring that survives key rotation. It is found in a damaged ring too; a ring without this part
 * is used as a whole.
 */
function lastingKey(server: Pick<Server, 'name'>, secrets: Secrets): string {
  const text = secrets.get(keysSecret(server))?.['keys.json'] ?? '';
  const found = /"cursor"\s*:\s*"([^"]+)"/.exec(text);
  return found?.[1] ?? text;
}

/**
 * A digest that shows a change of values without exposing them. It is keyed with the server's own key ring, so that it cannot
 * be compared with digests of likely passwords, and with a part that survives rotation, so that a rotation restarts only pods
 * that read the ring. It is short enough for a name, and independent of the order of members: the API server returns Secrets
 * in another order than they were sent in.
 */
export function fingerprint(server: Pick<Server, 'name'>, secrets: Secrets, values: unknown): string {
  return createHmac('sha256', lastingKey(server, secrets)).update(canonical(values)).digest('hex').slice(0, 10);
}

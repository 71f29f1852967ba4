// The environment of the server's processes on this machine. Pure.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { declaredBackup } from '../backup-environment.ts';
import { sha256 } from '../keys.ts';
import { type ConfigMaps, plusEnvironment } from '../plus-environment.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import {
  bucketUrl,
  declaredCatalogueKeys,
  declaredSettings,
  type MediaRoot,
  plainEnvironment,
  secretValue,
} from '../server-environment.ts';
import { brandingFolder } from './branding-folder.ts';
import { childEnvironment } from './child-environment.ts';
import type { Resource, Resources } from './resources.ts';

export interface Stores {
  databaseUrl: string;
  redisUrl: string;
  objectsUrl: string;
}

export interface Place {
  dir: string;
  port: number;
  openSetup: boolean;
  keysFile: string;
  operatorKey: string;
  claimCode: string;
  mediaId(name: string): string;
  uidOf(kind: string, name: string): string;
}

export type Server = Resource<MediaServerSpec>;

export function managedBy(resource: Resource<unknown>, place: Pick<Place, 'uidOf'>) {
  const { kind, namespace, name } = resource;
  return { kind, namespace, name, uid: place.uidOf(kind, name) };
}

/** The bucket of the Secret, or a folder in the data directory. */
export function objectsUrl(server: Server, { secrets }: Pick<Resources, 'secrets'>, dir: string): string {
  const { secretRef, bucketPrefix } = server.spec.objects;
  if (!secretRef) return pathToFileURL(resolve(dir, 'objects')).href;
  return bucketUrl(secrets.get(secretRef.name) ?? {}, bucketPrefix);
}

/** Folder on this machine of each media entry except buckets. A relative path starts at the folder of the file that declares it. */
export function mediaRoots(server: Server, place: Pick<Place, 'mediaId'>): MediaRoot[] {
  const base = resolve(server.source.file, '..');
  const folders = server.spec.media.filter(({ s3 }) => !s3);
  return folders.map(({ name, hostPath, readOnly }) => ({
    id: place.mediaId(name),
    name,
    path: resolve(base, hostPath?.path ?? ''),
    readOnly,
  }));
}

/** How the first owner is created: from a Secret, or through the link with the claim code. */
function ownership({ spec }: Server, place: Place): Record<string, string> {
  if (spec.ownerSecretRef)
    return { FOYER_OWNER_FILE: resolve(place.dir, 'run', 'owner.json'), FOYER_CLAIM_FROM: 'none' };
  const code = { FOYER_CLAIM_SHA256: sha256(place.claimCode), FOYER_CLAIM_FROM: 'link' };
  return { ...code, FOYER_OPEN_SETUP: place.openSetup ? '1' : '0' };
}

const textOf = (value: string | Uint8Array): string =>
  typeof value === 'string' ? value : Buffer.from(value).toString('utf8');

export const textsOf = ({ configMaps }: Pick<Resources, 'configMaps'>): ConfigMaps =>
  new Map(
    [...configMaps].map(([name, data]) => {
      return [name, Object.fromEntries(Object.entries(data).map(([key, value]) => [key, textOf(value)]))];
    }),
  );

/** The environment that all processes of the server share. */
export function serverEnvironment(server: Server, resources: Resources, to: { place: Place; stores: Stores }) {
  const { place, stores } = to;
  const plain = plainEnvironment(server.spec, {
    keysFile: place.keysFile,
    mediaRoots: mediaRoots(server, place),
    host: '127.0.0.1',
    port: place.port,
    scratchDir: resolve(place.dir, 'scratch'),
    managedBy: managedBy(server, place),
    clusterNetworks: [],
  });
  const backup = declaredBackup(server.spec, resources.secrets);
  const catalogueKeys = declaredCatalogueKeys(server.spec, resources.secrets);
  return childEnvironment({
    ...plain,
    NODE_COMPILE_CACHE: resolve(place.dir, 'cache'),
    FOYER_DATABASE_URL: stores.databaseUrl,
    FOYER_REDIS_URL: stores.redisUrl,
    FOYER_OBJECTS_URL: stores.objectsUrl,
    FOYER_OPERATOR_KEY_SHA256: sha256(place.operatorKey),
    ...(server.spec.branding && { FOYER_BRANDING_DIR: brandingFolder(place.dir) }),
    FOYER_SETTINGS: JSON.stringify(declaredSettings(server.spec, resources.secrets)),
    ...(backup !== undefined && { FOYER_BACKUP: backup }),
    ...(catalogueKeys !== undefined && { FOYER_CATALOGUE_KEYS: catalogueKeys }),
    ...plusEnvironment(server.spec, {
      configMaps: textsOf(resources),
      secret: (ref) => secretValue(resources.secrets, ref),
    }),
    ...ownership(server, place),
  });
}

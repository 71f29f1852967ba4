// The media of the resource as volumes of pods and as roots of the server.
import { createHash } from 'node:crypto';
import type { Volume, VolumeMount, VolumeSource } from '../../runtime/manifest.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import type { MediaRoot } from '../../server-environment.ts';
import { defined } from './meta.ts';

type Media = MediaServerSpec['media'][number];

const VOLUME_NAME_MAX = 63;

/** Media that pods can mount; buckets cannot be mounted. */
const mounted = ({ media }: MediaServerSpec): Media[] => media.filter(({ s3 }) => !s3);

function volumeName(name: string): string {
  const full = `media-${name}`;
  if (full.length <= VOLUME_NAME_MAX) return full;
  return `${full.slice(0, 52)}-${createHash('sha256').update(name).digest('hex').slice(0, 10)}`;
}

/** The volume of a claim, an NFS export or a folder of the node. */
export function volumeSource({ persistentVolumeClaim, nfs, hostPath }: Omit<Media, 'name' | 'readOnly'>): VolumeSource {
  if (persistentVolumeClaim) return { persistentVolumeClaim: { claimName: persistentVolumeClaim.claimName } };
  if (nfs) return { nfs: defined(nfs) };
  return hostPath ? { hostPath: defined(hostPath) } : {};
}

export const mediaClaims = (spec: MediaServerSpec): string[] =>
  mounted(spec).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);

export const mediaVolumes = (spec: MediaServerSpec): Volume[] =>
  mounted(spec).map((media) => ({ name: volumeName(media.name), ...volumeSource(media) }));

export const mediaMounts = (spec: MediaServerSpec): VolumeMount[] =>
  mounted(spec).map(({ name, readOnly, persistentVolumeClaim }) =>
    defined<VolumeMount>({
      name: volumeName(name),
      mountPath: `/media/${name}`,
      subPath: persistentVolumeClaim?.subPath,
      readOnly: readOnly || undefined,
    }),
  );

/** The id depends only on the server id and the name, so that a new server over existing data has the same ids. */
function storageId(serverId: string, name: string): string {
  const hex = createHash('sha256').update(`${serverId}/media/${name}`).digest('hex');
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}

export const mediaRoots = (spec: MediaServerSpec, serverId: string): MediaRoot[] =>
  mounted(spec).map(({ name, readOnly }) => ({
    id: storageId(serverId, name),
    name,
    path: `/media/${name}`,
    readOnly,
  }));

// The image of each component.
import type { MediaServerSpec } from '../../schemas/media-server.ts';

/** Defaults of this installation, with tags. */
export interface DefaultImages {
  foyer: string;
  postgres: string;
  redis: string;
  minio: string;
}

/**
 * The official public images for managed stores, by exact tag. Their publishers may replace the content of a tag; a mirror
 * can pin digests.
 */
export const STORE_IMAGES = {
  postgres: 'docker.io/library/postgres:18.4-bookworm',
  redis: 'docker.io/valkey/valkey:8.1.4',
  minio: 'docker.io/minio/minio:RELEASE.2025-09-07T16-13-09Z',
} as const;

export type Images = DefaultImages & { subtitles: string; cloudNativePG: string | undefined };

/** A colon after the last slash starts the tag. */
function split(image: string): { repository: string; rest: string } {
  const [named = ''] = image.split('@');
  const colon = named.lastIndexOf(':');
  const end = colon > named.lastIndexOf('/') ? colon : named.length;
  return { repository: image.slice(0, end), rest: image.slice(end) };
}

const HOST = /^([^/]*[.:][^/]*|localhost)\//;

function mirrored(image: string, registry: string | undefined): string {
  return registry ? `${registry}/${image.replace(HOST, '')}` : image;
}

/** The product's with `-subtitles` after its name, and of the same tag; a digest is of one image only. */
function speechImage({ registry, version, image, subtitles }: MediaServerSpec, { foyer }: DefaultImages): string {
  const { repository, rest } = split(foyer);
  const tag = version ? `:${version}` : rest.replace(/@.*/, '');
  return subtitles?.image ?? mirrored(`${image ?? repository}-subtitles${tag}`, registry);
}

export function imagesOf(spec: MediaServerSpec, defaults: DefaultImages): Images {
  const { registry, version, image, postgres, redis, objects } = spec;
  const { repository, rest } = split(defaults.foyer);
  const tag = version ? `:${version}` : rest;
  return {
    foyer: mirrored(`${image ?? repository}${tag}`, registry),
    subtitles: speechImage(spec, defaults),
    postgres: postgres.managed?.image ?? mirrored(defaults.postgres, registry),
    redis: redis.managed?.image ?? mirrored(defaults.redis, registry),
    minio: objects.managed?.image ?? mirrored(defaults.minio, registry),
    cloudNativePG: postgres.cloudNativePG?.image,
  };
}

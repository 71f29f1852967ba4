import { z } from 'zod';
import type { StorageCapabilities, StorageKind } from '../storages.schemas.ts';
import { type KindId, kindIds } from './ids.ts';
import { MountSettings, S3Settings, SftpSettings, WebdavSettings } from './settings.ts';

export { type KindId, kindIds } from './ids.ts';

export type Settings = Record<string, unknown>;
export type Secrets = Record<string, string>;

/** Where a storage is: two are the same place, or one contains the other, when their hosts are equal and their paths begin alike. */
export interface Where {
  host: string;
  path: string[];
}

interface Kind {
  name: string;
  /** A member may connect one. */
  personal: boolean;
  settings: z.ZodObject;
  secretKeys: readonly string[];
  capabilities: StorageCapabilities;
  where: (settings: Settings) => Where;
}

/** Readers of one storage in a process. */
export const MAX_READERS = 8;

const remote = { write: true, watch: 'none', rangeRead: true, move: false, maxReaders: MAX_READERS } as const;
const segments = (path: unknown): string[] =>
  (typeof path === 'string' ? path : '').split('/').filter((part) => part !== '' && part !== '.');

export const kinds: Record<KindId, Kind> = {
  mount: {
    name: 'Folder of the server',
    personal: false,
    settings: MountSettings,
    secretKeys: [],
    capabilities: { ...remote, watch: 'events', move: true, space: true, etag: false },
    where: ({ root, path }) => ({ host: String(root), path: segments(path) }),
  },
  s3: {
    name: 'S3 bucket',
    personal: false,
    settings: S3Settings,
    secretKeys: ['secretAccessKey'],
    capabilities: { ...remote, space: false, etag: true },
    where: ({ endpoint, bucket, prefix }) => ({
      host: `${new URL(String(endpoint)).origin} ${String(bucket)}`,
      path: segments(prefix),
    }),
  },
  webdav: {
    name: 'WebDAV',
    personal: true,
    settings: WebdavSettings,
    secretKeys: ['password'],
    capabilities: { ...remote, move: true, space: false, etag: true },
    where: ({ url }) => ({ host: new URL(String(url)).origin, path: segments(new URL(String(url)).pathname) }),
  },
  sftp: {
    name: 'SFTP',
    personal: false,
    settings: SftpSettings,
    secretKeys: ['password', 'privateKey', 'passphrase'],
    capabilities: { ...remote, move: true, space: false, etag: false },
    where: ({ host, port, path }) => ({ host: `${String(host).toLowerCase()}:${String(port)}`, path: segments(path) }),
  },
};

export const kindOf = (id: string): Kind => kinds[id as KindId];

/** Whether both have the same place, or one is inside the other. */
export function overlaps(one: Where, other: Where): boolean {
  const length = Math.min(one.path.length, other.path.length);
  return one.host === other.host && one.path.slice(0, length).join('/') === other.path.slice(0, length).join('/');
}

export function isSamePlace(one: Where, other: Where): boolean {
  return one.host === other.host && one.path.join('/') === other.path.join('/');
}

/** The kinds for the list, with the schema of their settings for a form. */
export function describeKinds(): StorageKind[] {
  return kindIds.map((id) => {
    const { name, personal, settings, secretKeys, capabilities } = kinds[id];
    return {
      ...{
        id,
        name,
        personal,
        authorization: 'none' as const,
        secretKeys: [...secretKeys],
        capabilities,
        available: true,
      },
      settingsSchema: {
        ...z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' }),
        'x-order': Object.keys(settings.shape),
      },
    };
  });
}

import type { Config } from '#platform/config.ts';
import type { MountSettings } from '../kinds/settings.ts';
import { callMount, MountError } from '../mounts/pool.ts';
import type { Op } from '../mounts/protocol.ts';
import type { StorageReason } from '../storages.schemas.ts';
import { Absent, type Listed, type Listing, Occupied, type Space, StorageFault, type StorageReader } from './reader.ts';

const METADATA_MS = 5000;
const LIST_MS = 10_000;
const READ_MS = 30_000;

const limits: Record<Op, number> = {
  list: LIST_MS,
  stat: METADATA_MS,
  read: READ_MS,
  write: READ_MS,
  remove: METADATA_MS,
  space: METADATA_MS,
  fingerprint: METADATA_MS,
  writable: METADATA_MS,
};

/** Reads a folder below a media root through a child process. Throws `StorageFault` for a root that the server does not have. */
export function mountReader({ mediaRoots }: Pick<Config, 'mediaRoots'>, settings: MountSettings): StorageReader {
  const root = mediaRoots.find(({ name }) => name === settings.root);
  if (!root) throw new StorageFault('root-missing', 'the server has no media root of this name', { stage: 'resolve' });
  const call = <T>(op: Op, path: string, more: object = {}): Promise<T> =>
    callMount({ op, root: root.path, folder: settings.path, path, ...more }, limits[op]).catch((error: unknown) => {
      throw faultOf(error, path);
    }) as Promise<T>;
  return {
    list: (path, { most }) => call<Listing>('list', path, { most }),
    stat: (path) =>
      call<Listed>('stat', path).catch((error: unknown) => {
        if (error instanceof Absent) return undefined;
        throw error;
      }),
    read: async (path, { start, length }) => Buffer.from(await call<Uint8Array>('read', path, { start, length })),
    write: (path, content, { replace = false } = {}) => call('write', path, { content, replace }),
    remove: (path) => call('remove', path),
    space: () => call<Space>('space', ''),
    fingerprint: () => call<string>('fingerprint', ''),
    writable: () => call('writable', ''),
    close: async () => undefined,
  };
}

const REASONS: Record<string, StorageReason> = {
  EACCES: 'permission-denied',
  EPERM: 'permission-denied',
  EROFS: 'read-only-now',
  ENOSPC: 'full',
  EDQUOT: 'full',
};
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'OUTSIDE', 'NOT_A_FILE', 'ELOOP', 'ENAMETOOLONG']);

/** The root itself missing means that it is not mounted. */
function faultOf(error: unknown, path: string): unknown {
  if (!(error instanceof MountError)) return error;
  if (error.code === 'EEXIST') return new Occupied('a file is there already');
  if (ABSENT.has(error.code))
    return path === '' ? new StorageFault('not-mounted', 'the folder does not exist') : new Absent('no such path');
  return new StorageFault(REASONS[error.code] ?? 'not-mounted', error.message);
}

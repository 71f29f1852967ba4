import { opendir, realpath, stat, statfs } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { isBelow } from '#platform/is-below.ts';
import type { Row } from '#platform/typed-query.ts';
import { mountReader } from '../readers/mount.ts';
import { StorageFault } from '../readers/reader.ts';
import { readerOfStorage } from '../registry.ts';
import { relayedReader } from '../relay/remote.ts';
import { findStorageRow } from '../storages.store.ts';
import { looks } from './looks.ts';
import { addressOf, type RemoteFile } from './ranges.ts';

/** Row data of a media file or a sidecar file. */
export interface Wanted {
  storageId: string;
  /** Inside the storage. */
  path: string;
  /** The library folder of the file. */
  folderId: string;
  sizeBytes: number;
  modifiedMs: number;
}

export interface OpenFile {
  /** A path with links resolved, or the address of a range reader for a remote file: see bytes.ts. */
  absolute: string;
  size: number;
  modifiedAt: Date;
  /**
   * How a process reads it that must not have it open: a file system of a user process (FUSE) is called when a file is closed, so
   * that one that hangs would hold every start of a child process, which closes its copies.
   */
  blocks?: Pick<RemoteFile, 'reader' | 'path'>;
}

/** Unknown while the storage is unavailable; `absent` when the file does not exist or a link leads outside its library. */
export type Opening = ({ kind: 'there' } & OpenFile) | { kind: 'unavailable'; reason: string } | { kind: 'absent' };

interface FolderRow extends Pick<Row<'storages'>, 'state' | 'enabled' | 'root_name' | 'path' | 'kind'> {
  /** The folder does not respond or is empty, as an unmounted mount point is. */
  unavailable: boolean;
  folder: string;
  library_id: string;
}

/** Configuration that reading media needs. */
export type MediaConfig = Pick<
  Config,
  'mediaRoots' | 'keysFile' | 'mediaRelay' | 'clusterNetworks' | 'apiServerNetworks' | 'storageNetworks'
>;

interface Deps {
  db: Db;
  config: MediaConfig;
}

/** Some file systems store coarse times. */
const SLACK_MS = 1000;
const USABLE = ['available', 'degraded', 'suspect'];

/**
 * Opens a file by its row. The state is unknown on a storage that is unavailable, disabled or of unproven identity,
 * and for a library folder that is gone or empty, because it may be an unmounted mount. A suspect storage serves only
 * files with the size and time of their row.
 */
export async function openMedia({ db, config }: Deps, wanted: Wanted): Promise<Opening> {
  const [row] = await foldersOf(db, wanted);
  if (!row?.enabled) return { kind: 'unavailable', reason: 'disabled' };
  const known = knownState(row);
  if (known) return known;
  if (row.kind !== 'mount') return openRemote({ db, config }, wanted, row.state === 'suspect');
  return openOnMount({ db, config }, wanted, row);
}

async function openOnMount({ db, config }: Deps, wanted: Wanted, row: FolderRow): Promise<Opening> {
  const top = await topOf(config, row);
  if (top === undefined) return { kind: 'unavailable', reason: 'unreachable' };
  const found = await looks.run(wanted.folderId, () => realpath(join(top, wanted.path)).catch(() => undefined));
  if (found === 'slow') return { kind: 'unavailable', reason: 'timeout' };
  if (found === undefined) return (await holdsAnything(wanted.folderId, join(top, row.folder))) ? ABSENT : UNAVAILABLE;
  const home = await homeOf({ db, config }, { top, row, found });
  if (!home) return ABSENT;
  const opened = await openThere(found, wanted, row.state === 'suspect');
  if (opened.kind !== 'there' || !(await isOfUserProcess(wanted.folderId, found))) return opened;
  const reader = mountReader(config, { root: home.root_name ?? '', path: home.path });
  return { ...opened, blocks: { reader, path: home.file } };
}

/** The type of a file system of a user process. */
const FUSE = 0x65735546;

async function isOfUserProcess(folderId: string, absolute: string): Promise<boolean> {
  const found = await looks.run(folderId, () => statfs(absolute).catch(() => undefined));
  return found === 'slow' || Number(found?.type) === FUSE;
}

/** Unavailable by what the workers observed. */
function knownState({ state, unavailable }: Pick<FolderRow, 'state' | 'unavailable'>): Opening | undefined {
  if (!USABLE.includes(state)) return { kind: 'unavailable', reason: state };
  return unavailable ? UNAVAILABLE : undefined;
}

const ABSENT: Opening = { kind: 'absent' };
const UNAVAILABLE: Opening = { kind: 'unavailable', reason: 'root-missing' };

async function openRemote({ db, config }: Deps, wanted: Wanted, suspect: boolean): Promise<Opening> {
  const row = await findStorageRow(db, wanted.storageId);
  if (!row) return UNAVAILABLE;
  try {
    const reader = (await relayedReader({ db, config }, wanted)) ?? (await readerOfStorage(config, row));
    const found = await reader.stat(wanted.path);
    if (found?.kind !== 'file') return ABSENT;
    const { size, modifiedMs } = found;
    if (suspect && !isSame(wanted, size, modifiedMs)) return { kind: 'unavailable', reason: 'suspect' };
    const absolute = await addressOf({ reader, path: wanted.path, size, modifiedMs });
    return { kind: 'there', absolute, size, modifiedAt: new Date(modifiedMs) };
  } catch (error) {
    if (error instanceof StorageFault) return { kind: 'unavailable', reason: error.reason };
    throw error;
  }
}

const isSame = ({ sizeBytes, modifiedMs }: Wanted, size: number, time: number): boolean =>
  size === sizeBytes && Math.abs(time - modifiedMs) <= SLACK_MS;

async function openThere(absolute: string, wanted: Wanted, suspect: boolean): Promise<Opening> {
  const found = await looks.run(wanted.folderId, () => stat(absolute).catch(() => undefined));
  if (found === 'slow') return { kind: 'unavailable', reason: 'timeout' };
  if (!found?.isFile()) return ABSENT;
  if (suspect && !isSame(wanted, found.size, found.mtimeMs)) return { kind: 'unavailable', reason: 'suspect' };
  return { kind: 'there', absolute, size: found.size, modifiedAt: found.mtime };
}

async function foldersOf(db: Db, { storageId, folderId }: Wanted): Promise<FolderRow[]> {
  return db('storages as s')
    .join('library_folders as f', 'f.id', db.raw('?', [folderId]))
    .where('s.id', storageId)
    .select('s.state', 's.enabled', 's.root_name', 's.path', 's.kind', 'f.library_id', {
      folder: 'f.path',
      unavailable: 'f.away',
    });
}

/** The path of the storage in this process; undefined when its media root is gone or does not respond. */
async function topOf(config: Deps['config'], row: Pick<FolderRow, 'root_name' | 'path'>): Promise<string | undefined> {
  const root = config.mediaRoots.find((one) => one.name === row.root_name);
  const top = root && (await looks.run(root.path, () => realpath(root.path).catch(() => undefined)));
  return top === undefined || top === 'slow' ? undefined : join(top, row.path);
}

async function holdsAnything(id: string, folder: string): Promise<boolean> {
  const found = await looks.run(id, () => firstIn(folder).catch(() => null));
  return found !== 'slow' && found !== null;
}

async function firstIn(folder: string): Promise<unknown> {
  const directory = await opendir(folder);
  try {
    return await directory.read();
  } finally {
    await directory.close();
  }
}

/** A storage, and a file in it. */
interface Home extends Pick<FolderRow, 'root_name' | 'path'> {
  file: string;
}

/** Where a file lies. A link must stay inside the folders of its library; undefined for one that leads outside. */
async function homeOf(
  { db, config }: Deps,
  { top, row, found }: { top: string; row: FolderRow; found: string },
): Promise<Home | undefined> {
  const own = await pathIn(join(top, row.folder), found);
  if (own !== undefined) return { ...row, file: join(row.folder, own) };
  const others = await db('library_folders as f')
    .join('storages as s', 's.id', 'f.storage_id')
    .where('f.library_id', row.library_id)
    .select('s.root_name', 's.path', { folder: 'f.path' });
  for (const other of others) {
    const there = await topOf(config, other);
    const inside = there && (await pathIn(join(there, other.folder), found));
    if (inside !== undefined) return { ...other, file: join(other.folder, inside) };
  }
  return undefined;
}

/** The path of a file in a folder; undefined when it is not there. */
async function pathIn(folder: string, found: string): Promise<string | undefined> {
  const real = await looks.run(folder, () => realpath(folder).catch(() => undefined));
  return real !== undefined && real !== 'slow' && isBelow(real, found) ? relative(real, found) : undefined;
}

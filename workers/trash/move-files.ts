import { link, lstat, mkdir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  forgetTrashed,
  nextTrashed,
  noteInTrash,
  noteReturned,
  parentOf,
  type TrashedFile,
  trashPathOf,
} from '#areas/libraries/public.ts';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import { Postponed, type Work } from '../work.ts';

const AGAIN_MS = 10 * 60_000;
/** File times of some file systems are coarse. */
const SLACK_MS = 1000;

/**
 * Moves files into the trash of their storages, back to their place, or deletes them there, as their rows require. Every step can
 * be repeated, so a worker that ends between a move and its row loses nothing. Throws `Postponed` while a storage is unavailable.
 */
export async function moveFiles(work: Work): Promise<{ moved: number }> {
  const { db, signal } = work;
  const waiting: string[] = [];
  for (let moved = 0; ; moved += 1) {
    signal.throwIfAborted();
    const next = await db.transaction(async (inside) => {
      const row = await nextTrashed(inside, waiting);
      if (!row) return 'none';
      return (await moveOne({ ...work, db: inside }, row)) ? 'moved' : row.id;
    });
    if (next === 'none' && waiting.length > 0) throw new Postponed(new Date(Date.now() + AGAIN_MS), 'storage');
    if (next === 'none') return { moved };
    if (next !== 'moved') waiting.push(next);
  }
}

interface Places {
  /** Where the file belongs. */
  place: string;
  /** Where it lies in the trash. */
  trash: string;
}

/** False while the storage is unavailable. */
async function moveOne(work: Work, row: TrashedFile): Promise<boolean> {
  const places = await placesOf(work, row);
  if (!places) return false;
  const { db } = work;
  if (row.wanted === 'trash') {
    if (await intoTrash(work, row, places)) await noteInTrash(db, row);
    else await forgetTrashed(db, row.id);
  } else if (row.wanted === 'place') {
    if (await backToPlace(places)) await noteReturned(db, row);
    else await noteInTrash(db, row);
  } else {
    if (await intoTrash(work, row, places)) await dropTrash(places);
    await forgetTrashed(db, row.id);
  }
  return true;
}

/** The paths in this process; undefined while the storage is unavailable, read-only or without its folder. */
async function placesOf({ db, config }: Work, row: TrashedFile): Promise<Places | undefined> {
  const storage = (await findStorages(db, [row.storage_id])).get(row.storage_id);
  if (!storage || storage.readOnly || !['available', 'degraded'].includes(storage.state)) return undefined;
  const top = await placeInStorage(config, storage, '');
  if (top.kind !== 'there') return undefined;
  const folder = await placeInStorage(config, storage, parentOf(row.path));
  if (folder.kind === 'unavailable' || folder.kind === 'outside') return undefined;
  const place = folder.kind === 'there' ? join(folder.absolute, basename(row.path)) : join(top.absolute, row.path);
  return { place, trash: join(top.absolute, trashPathOf(row)) };
}

/** Whether the file is in the trash now. A file that changed since, or that cannot be renamed there, stays at its place. */
async function intoTrash({ log }: Work, row: TrashedFile, { place, trash }: Places): Promise<boolean> {
  if (await seen(trash)) return true;
  const file = await seen(place);
  if (!file?.isFile() || file.size !== row.size_bytes || Math.abs(file.mtimeMs - row.modified_ms) > SLACK_MS)
    return false;
  const folder = dirname(trash);
  if ((await seen(dirname(folder)))?.isSymbolicLink()) return false;
  try {
    await mkdir(folder, { recursive: true });
    await rename(place, trash);
    return true;
  } catch (error) {
    log.warn({ err: error, storageId: row.storage_id }, 'a file was not moved to the trash');
    await rmdir(folder).catch(() => undefined);
    return false;
  }
}

/** File systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Whether the file is at its place now. It never replaces another file. */
async function backToPlace({ place, trash }: Places): Promise<boolean> {
  const [held, there] = [await seen(trash), await seen(place)];
  if (!held) return there !== undefined;
  if (there && (there.ino !== held.ino || there.dev !== held.dev)) return false;
  await mkdir(dirname(place), { recursive: true });
  if (!there) await putBack({ place, trash });
  await dropTrash({ place, trash });
  return true;
}

/** A link fails where a file is, and a rename does not. */
async function putBack({ place, trash }: Places): Promise<void> {
  try {
    await link(trash, place);
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '') || (await seen(place))) throw error;
    await rename(trash, place);
  }
}

async function dropTrash({ trash }: Places): Promise<void> {
  await unlink(trash).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rmdir(dirname(trash)).catch(() => undefined);
}

async function seen(path: string) {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

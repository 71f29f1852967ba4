// Writes an upload into its library: whole under a hidden name first, then under its own, never over another file.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, rmdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { placeInStorage, type Storage } from '#areas/storage/public.ts';
import { extensionOf, keyOf, notePlace, type UploadFolder, type UploadRow } from '#areas/uploads/public.ts';
import { requireSpace, whileSpace } from '#platform/disk.ts';
import type { Work } from '../work.ts';
import { BUCKET } from './arrive.ts';
import { Cancelled, Changed, nameOf, pathOf, requireKept, StorageGone, type Wanted } from './naming.ts';

const HIDDEN = '.foyer-uploads';

export interface Top {
  folder: UploadFolder;
  /** Of the library folder, in this process. */
  absolute: string;
}

/** The library folder in this process. Throws `StorageGone`. */
export async function topOf(
  { config }: Work,
  { folder, storage }: { folder: UploadFolder; storage: Storage },
): Promise<Top> {
  if (config.mediaRoots.find(({ name }) => name === storage.rootName)?.readOnly) throw new StorageGone();
  const place = await placeInStorage(config, storage, folder.path);
  if (place.kind !== 'there') throw new StorageGone();
  return { folder, absolute: place.absolute };
}

/** A path in the storage as one of this process; the path lies below the folder. */
const absoluteOf = ({ folder, absolute }: Top, path: string): string =>
  join(absolute, folder.path === '' ? path : path.slice(folder.path.length + 1));

/** Whether the upload's file already lies where its row says. Throws `Changed` when it was there and is lost. */
export async function isPlaced(top: Top, row: UploadRow): Promise<boolean> {
  if (row.path === null || row.folder_id !== top.folder.id) return false;
  const path = absoluteOf(top, row.path);
  const found = await lstat(path).catch(() => undefined);
  const isFile = found?.isFile() === true;
  if (row.placed) return requireKept(isFile);
  return isFile && found.size === row.size_bytes && (await hashOf(path)) === row.sha256;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/**
 * Puts the file in its folder and notes where, first in the row and then on the disk. Throws `StorageGone`, `Changed`, `Cancelled`,
 * `Unfit`, and the error of a full disk.
 */
export async function placeUpload(
  work: Work,
  row: UploadRow,
  { top, wanted }: { top: Top; wanted: Wanted },
): Promise<void> {
  const hidden = join(top.absolute, HIDDEN);
  await mkdir(hidden, { recursive: true });
  const draft = join(hidden, `${row.id}-${randomUUID()}.${extensionOf(row.name)}`);
  try {
    await write(work, row, draft);
    const named = await nameOf(work, row, { folder: top.folder, wanted, place: draft });
    await mkdir(absoluteOf(top, named.directory || top.folder.path), { recursive: true });
    for (let at = 1; ; at += 1) {
      const path = pathOf(named, at);
      if (await lstat(absoluteOf(top, path)).catch(() => undefined)) continue;
      if (!(await notePlace(work.db, row.id, { folder_id: top.folder.id, path, writing: false })))
        throw new Cancelled();
      if (await appear(draft, absoluteOf(top, path))) return;
    }
  } finally {
    await rm(draft, { force: true });
    await rmdir(hidden).catch(() => undefined); // others still write into it
  }
}

/** Deletes the unfinished files of tries whose worker died. */
export async function dropDrafts({ absolute }: Top, { id }: UploadRow): Promise<void> {
  const hidden = join(absolute, HIDDEN);
  const names = await readdir(hidden).catch(() => []); // there is none
  for (const name of names) if (name.startsWith(`${id}-`)) await rm(join(hidden, name), { force: true });
  if (names.length > 0) await rmdir(hidden).catch(() => undefined); // others still write into it
}

async function write(work: Work, row: UploadRow, draft: string): Promise<void> {
  await requireSpace(dirname(draft), row.size_bytes);
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece);
      done(null, piece);
    },
  });
  const body = await work.objects.get(BUCKET, keyOf(row.id));
  await pipeline(body, hashed, whileSpace(dirname(draft)), createWriteStream(draft, { mode: 0o664, flags: 'wx' }), {
    signal: work.signal,
  });
  const file = await open(draft, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== row.sha256) throw new Changed('the object changed while it was read');
  const time = row.modified_at ?? row.taken_at;
  if (time) await utimes(draft, time, time);
}

/** Errors of file systems without hard links. */
const LINKLESS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);
const codeOf = (error: unknown): string => String((error as { code?: string }).code ?? '');

/** Gives the file its name; false when another file has it. */
export async function appear(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!LINKLESS.has(codeOf(error))) throw error;
    return reserve(draft, path);
  }
  return true;
}

/** An empty file holds the name until the whole one takes its place. */
async function reserve(draft: string, path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o664)).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  await rename(draft, path);
  return true;
}

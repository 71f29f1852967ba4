// Writes an upload into its library: whole under a hidden name first, then under its own, never over another file.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, lstat, mkdir, open, rename, rm, rmdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import {
  cleanName,
  extensionOf,
  keyOf,
  notePlace,
  numbered,
  type UploadFolder,
  type UploadRow,
} from '#areas/uploads/public.ts';
import { requireSpace, whileSpace } from '#platform/disk.ts';
import { ProbeError, probeFile } from '../probe/probe.ts';
import type { Work } from '../work.ts';
import { BUCKET, Unfit } from './arrive.ts';
import { type Partner, stemOf } from './partner.ts';

/** The storage of the folder cannot be written now. */
export class StorageGone extends Error {}
/** The upload was cancelled meanwhile. */
export class Cancelled extends Error {}

const USABLE = ['available', 'degraded'];
const HIDDEN = '.foyer-uploads';

export interface Top {
  folder: UploadFolder;
  /** Of the library folder, in this process. */
  absolute: string;
}

/** The library folder in this process. Throws `StorageGone`. */
export async function topOf({ db, config }: Work, folder: UploadFolder): Promise<Top> {
  const storage = (await findStorages(db, [folder.storageId])).get(folder.storageId);
  if (!storage || !USABLE.includes(storage.state) || storage.readOnly) throw new StorageGone();
  if (config.mediaRoots.find(({ name }) => name === storage.rootName)?.readOnly) throw new StorageGone();
  const place = await placeInStorage(config, storage, folder.path);
  if (place.kind !== 'there') throw new StorageGone();
  return { folder, absolute: place.absolute };
}

/** A path in the storage as one of this process; the path lies below the folder. */
const absoluteOf = ({ folder, absolute }: Top, path: string): string =>
  join(absolute, folder.path === '' ? path : path.slice(folder.path.length + 1));

/** Whether the upload's file already lies where its row says. */
export async function isPlaced(top: Top, row: UploadRow): Promise<boolean> {
  if (row.path === null) return false;
  const path = absoluteOf(top, row.path);
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === row.size_bytes && (await hashOf(path)) === row.sha256;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

export interface Wanted {
  /** Directory of an album, in the storage. */
  album?: string | undefined;
  partner?: Partner | undefined;
}

/**
 * Puts the file in its folder and notes where, first in the row and then on the disk. Throws `StorageGone`, `Cancelled`, `Unfit`, and
 * the error of a full disk.
 */
export async function placeUpload(
  work: Work,
  row: UploadRow,
  { top, wanted }: { top: Top; wanted: Wanted },
): Promise<void> {
  const hidden = join(top.absolute, HIDDEN);
  await mkdir(hidden, { recursive: true });
  const draft = join(hidden, `${randomUUID()}.${extensionOf(row.name)}`);
  try {
    await write(work, row, draft);
    const taken = await takenOf(work, row, draft);
    const { directory, name } = nameOf(row, top, { wanted, taken });
    await mkdir(absoluteOf(top, directory || top.folder.path), { recursive: true });
    for (let at = 1; ; at += 1) {
      const path = [directory, numbered(name, at)].filter(Boolean).join('/');
      if (await lstat(absoluteOf(top, path)).catch(() => undefined)) continue;
      if (!(await notePlace(work.db, row.id, { folder_id: top.folder.id, path }))) throw new Cancelled();
      if (await appear(draft, absoluteOf(top, path))) return;
    }
  } finally {
    await rm(draft, { force: true });
    await rmdir(hidden).catch(() => undefined); // others still write into it
  }
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
  if (hash.digest('hex') !== row.sha256) throw new Error('the object changed while it was read');
  const time = row.modified_at ?? row.taken_at;
  if (time) await utimes(draft, time, time);
}

/** Year and month in which a photo was taken: by itself, as announced, or as the file was changed. */
async function takenOf(work: Work, row: UploadRow, draft: string): Promise<{ year: string; month: string }> {
  const local = extensionOf(row.name) === 'xmp' ? undefined : await cameraTime(work, draft);
  const announced = row.taken_at ?? row.modified_at ?? row.created_at;
  const [, year = '0000', month = '00'] = /^(\d{4})-(\d{2})/.exec(local ?? announced.toISOString()) ?? [];
  return { year, month };
}

/** The time by the clock of the camera. Throws `Unfit` for a file that is no photo or film. */
async function cameraTime({ signal }: Work, draft: string): Promise<string | undefined> {
  try {
    return (await probeFile(draft, { as: 'photo', signal })).file.photo?.takenLocal;
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    throw new Unfit(error.fault === 'not-media' ? 'not-a-photo' : 'corrupt');
  }
}

function nameOf(
  row: UploadRow,
  { folder }: Top,
  { wanted, taken }: { wanted: Wanted; taken: { year: string; month: string } },
): { directory: string; name: string } {
  const name = cleanName(row.name) ?? row.id;
  const { album, partner } = wanted;
  if (partner?.path && partner.folder_id === folder.id) {
    const [stem, directory] = [stemOf(partner.path.split('/').at(-1) ?? ''), dirname(partner.path)];
    return { directory: directory === '.' ? '' : directory, name: `${stem}.${extensionOf(name)}` };
  }
  const directory = album ?? [folder.path, taken.year, taken.month].filter(Boolean).join('/');
  return { directory, name };
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

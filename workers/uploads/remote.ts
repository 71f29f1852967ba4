// Writes an upload into a library folder on a remote storage, where it appears whole and never over another file.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  Absent,
  Altered,
  addressOf,
  joined,
  Occupied,
  readerById,
  StorageFault,
  type StorageReader,
  streamOf,
  Unsent,
} from '#areas/storage/public.ts';
import {
  extensionOf,
  hasEnded,
  keyOf,
  noteAppearing,
  noteParts,
  notePlace,
  noteProgress,
  type UploadFolder,
  type UploadRow,
} from '#areas/uploads/public.ts';
import type { Db } from '#platform/db.ts';
import { DiskFull } from '#platform/disk.ts';
import type { Work } from '../work.ts';
import { BUCKET, Unfit } from './arrive.ts';
import { Cancelled, Changed, nameOf, pathOf, requireKept, StorageGone, type Wanted } from './naming.ts';

export interface RemoteTop {
  folder: UploadFolder;
  reader: StorageReader;
}

/** The library folder. Throws `StorageGone`. */
export async function remoteTopOf({ db, config }: Work, folder: UploadFolder): Promise<RemoteTop> {
  return reported(async () => {
    const reader = await readerById({ db, config }, folder.storageId);
    if (!reader?.place) throw new StorageGone();
    return { folder, reader };
  });
}

/** Faults of the storage as the job knows them. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Absent) throw new StorageGone('the file was lost', { cause: error });
    if (error instanceof Unsent) throw error.cause ?? new Changed(error.message, { cause: error });
    if (!(error instanceof StorageFault)) throw error;
    if (error.reason === 'full') throw new DiskFull(error.message, { cause: error });
    throw new StorageGone(error.message, { cause: error });
  }
}

/** Whether the upload's file already lies where its row says. Throws `Changed` when it was there and is lost, and `StorageGone`. */
export async function isPlacedRemotely({ folder, reader }: RemoteTop, row: UploadRow): Promise<boolean> {
  const { path, size_bytes: size } = row;
  if (path === null || row.folder_id !== folder.id) return false;
  return reported(async () => {
    const found = await reader.stat(path);
    const isFile = found?.kind === 'file';
    if (row.placed) return requireKept(isFile);
    if (!isFile || found.size !== size) return false;
    const hash = createHash('sha256');
    await pipeline(streamOf({ reader, path }, { start: 0, end: size - 1 }), hash);
    return hash.digest('hex') === row.sha256;
  });
}

/**
 * Puts the file in its folder and notes where, first in the row and then on the storage. Throws `StorageGone`, `Changed`, `Cancelled`,
 * `Unfit` and `DiskFull`.
 */
export async function placeRemotely(
  work: Work,
  row: UploadRow,
  { top, wanted }: { top: RemoteTop; wanted: Wanted },
): Promise<void> {
  const { folder, reader } = top;
  const named = await nameOf(work, row, { folder, wanted, place: await addressOfUpload(work, row) });
  await reported(async () => {
    await requireSpace(reader, row);
    for (let at = 1; ; at += 1) {
      const path = pathOf(named, at);
      if (await reader.stat(path)) continue;
      if (!(await notePlace(work.db, row.id, { folder_id: folder.id, path, writing: true }))) throw new Cancelled();
      if (await appear(work, row, { reader, path })) return;
    }
  });
}

/** The stored object as the probe reads it, in ranges. */
async function addressOfUpload({ objects }: Work, row: UploadRow): Promise<string> {
  const reader = {
    read: async (_path: string, { start, length }: { start: number; length: number }): Promise<Buffer> =>
      Buffer.concat(
        await Array.fromAsync(
          (await objects.get(BUCKET, keyOf(row.id), { start, end: start + length - 1 })) as AsyncIterable<Buffer>,
        ),
      ),
  };
  const path = `${row.id}.${extensionOf(row.name)}`;
  return addressOf({ reader, path, size: row.size_bytes, modifiedMs: 0 });
}

async function requireSpace(reader: StorageReader, { size_bytes: size }: UploadRow): Promise<void> {
  const space = await reader.space();
  if (space && space.freeBytes < size) throw new StorageFault('full', 'the storage has no space for the file');
}

const draftNameOf = (row: UploadRow): string => `.foyer-upload-${row.id}`;

/** Deletes the unfinished file of an earlier try whose worker died. Throws `StorageGone`. */
export async function dropDraft({ db }: Work, row: UploadRow, { folder, reader }: RemoteTop): Promise<void> {
  const { path, placing_parts: parts } = row;
  if (path === null || row.folder_id !== folder.id) return;
  await reported(async () => {
    await reader.remove(joined(path.slice(0, Math.max(0, path.lastIndexOf('/'))), draftNameOf(row)));
    if (parts === null) return;
    await reader.dropParts?.(path, parts);
    await noteParts(db, row.id, null);
  });
}

/** A file of many gigabytes takes hours; the sweep goes on with uploads that look forgotten. */
const PROGRESS_MS = 5 * 60_000;

/** How often it is checked whether the upload was cancelled. */
const LOOK_MS = 2000;

/** The stored object. Throws `Cancelled` once the upload has ended. */
async function* bytesOf({ db, objects }: Work, { id }: UploadRow): AsyncGenerator<Buffer> {
  let looked = Date.now();
  for await (const piece of (await objects.get(BUCKET, keyOf(id))) as AsyncIterable<Buffer>) {
    if (Date.now() - looked > LOOK_MS) {
      // without the database the upload goes on: `noteAppearing` decides in the end
      if (await hasEnded(db, id).catch(() => false)) throw new Cancelled();
      looked = Date.now();
    }
    yield piece;
  }
}

async function requireOpen(db: Db, { id }: UploadRow): Promise<void> {
  if (!(await noteAppearing(db, id))) throw new Cancelled();
}

/** False when another file has the path. */
async function appear(
  work: Work,
  row: UploadRow,
  { reader, path }: { reader: StorageReader; path: string },
): Promise<boolean> {
  const { db, signal } = work;
  const file = {
    ...{ size: row.size_bytes, sha256: row.sha256 ?? '', draftName: draftNameOf(row) },
    modifiedAt: row.modified_at ?? row.taken_at ?? undefined,
    noteParts: (id: string) => noteParts(db, row.id, id),
    appears: () => requireOpen(db, row),
    open: async () => Readable.from(bytesOf(work, row), { objectMode: false }),
  };
  const progress = setInterval(() => void noteProgress(db, row.id).catch(() => undefined), PROGRESS_MS);
  try {
    await reader.place?.(path, file, { signal });
  } catch (error) {
    if (error instanceof Occupied) return false;
    // Each try would leave one more file. Only `Altered` proves that the file at the path is this upload's.
    if (error instanceof Altered) throw new Unfit('checksum-mismatch');
    throw error;
  } finally {
    clearInterval(progress);
  }
  return true;
}

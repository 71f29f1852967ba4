// Where the file of a recording is written: a folder of a mount, or of a remote storage. It appears whole, and never over another file.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { joined, Occupied, readerById, StorageFault, type StorageReader, Unsent } from '#areas/storage/public.ts';
import { DiskFull } from '#platform/disk.ts';
import type { Work } from '#workers/work.ts';
import { appear } from '../../uploads/place.ts';
import { type Folder, FolderUnavailable, placeOf, writableStorage } from '../recorder/target.ts';

/** Paths are below the folder. */
export interface Destination {
  /** A folder of this process for the file while it is written. */
  drafts: string;
  holdsFile: (path: string) => Promise<boolean>;
  isTaken: (path: string) => Promise<boolean>;
  /** The file gets its path; false when another one has it. */
  appear: (draft: string, path: string) => Promise<boolean>;
}

/** The parts of an unfinished object, by its path in the storage. */
export interface Parts {
  path: string;
  id: string;
}

/** One job, and its notes about an object that it writes. */
export interface Placing {
  recordingId: string;
  parts: Parts | undefined;
  noteParts: (parts: Parts | undefined) => Promise<void>;
}

/** Throws `FolderUnavailable` while the folder cannot be written. */
export async function destinationOf(work: Work, folder: Folder, placing: Placing): Promise<Destination> {
  const storage = await writableStorage(work, folder);
  if (storage.kind === 'mount') return onMount(await placeOf(work, folder));
  const reader = await reported(() => readerById(work, folder.storageId));
  if (!reader?.place) throw new FolderUnavailable();
  await dropParts(reader, placing);
  return onRemote(work, { folder, reader, placing });
}

function onMount(top: string): Destination {
  const found = (path: string) => lstat(join(top, path)).catch(() => undefined);
  return {
    drafts: join(top, '.foyer-recordings'),
    holdsFile: async (path) => (await found(path))?.isFile() ?? false,
    isTaken: async (path) => (await found(path)) !== undefined,
    async appear(draft, path) {
      await mkdir(dirname(join(top, path)), { recursive: true });
      return appear(draft, join(top, path));
    },
  };
}

interface Remote {
  folder: Folder;
  reader: StorageReader;
  placing: Placing;
}

function onRemote(work: Work, remote: Remote): Destination {
  const { folder, reader } = remote;
  const found = (path: string) => reported(() => reader.stat(joined(folder.path, path)));
  return {
    drafts: join(work.config.scratchDir, 'recordings'),
    holdsFile: async (path) => (await found(path))?.kind === 'file',
    isTaken: async (path) => (await found(path)) !== undefined,
    appear: (draft, path) => reported(() => send(work, draft, { ...remote, path: joined(folder.path, path) })),
  };
}

/** An object in parts of a worker that died takes space until they are deleted. */
async function dropParts(reader: StorageReader, { parts, noteParts }: Placing): Promise<void> {
  if (!parts) return;
  await reported(async () => reader.dropParts?.(parts.path, parts.id));
  await noteParts(undefined);
}

async function send(
  { signal }: Work,
  draft: string,
  { reader, placing, path }: Remote & { path: string },
): Promise<boolean> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(draft, { highWaterMark: 1 << 20 }), hash, { signal });
  const file = {
    ...{ size: (await stat(draft)).size, sha256: hash.digest('hex') },
    draftName: `.foyer-recording-${placing.recordingId}`,
    noteParts: (id: string) => placing.noteParts({ path, id }),
    open: async () => createReadStream(draft, { highWaterMark: 1 << 20 }),
  };
  try {
    await reader.place?.(path, file, { signal });
    return true;
  } catch (error) {
    if (error instanceof Occupied) return false;
    throw error;
  }
}

/** Faults of the storage as the job knows them. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unsent) throw error.cause ?? error;
    if (!(error instanceof StorageFault)) throw error;
    if (error.reason === 'full') throw new DiskFull(error.message, { cause: error });
    throw new FolderUnavailable(error.message, { cause: error });
  }
}

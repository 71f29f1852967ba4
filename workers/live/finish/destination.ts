// Where the file of a recording is written: a folder of a mount, or of a remote storage. It appears whole, and never over another file.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  Absent,
  joined,
  Occupied,
  readerById,
  StorageFault,
  type StorageReader,
  streamOf,
  Unsent,
} from '#areas/storage/public.ts';
import { DiskFull } from '#platform/disk.ts';
import type { Work } from '#workers/work.ts';
import { appear } from '../../uploads/place.ts';
import { type Folder, FolderUnavailable, placeOf, writableStorage } from '../recorder/target.ts';
import type { Notes, PlacedFile } from './notes.ts';
import { inTurn } from './turns.ts';

/** Paths are below the folder. */
export interface Destination {
  /** A folder of this process for the file of this recording while it is written. */
  drafts: string;
  /** Runs the work that writes a file there, or throws `Postponed`. */
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws `FolderUnavailable` or `DiskFull` when a file of this size cannot be written there now. */
  requireRoom: (bytes: number) => Promise<void>;
  /** The facts by which `holds` knows the file again. */
  factsOf: (draft: string) => Promise<Facts>;
  /** Whether this very file has its path. */
  holds: (file: PlacedFile) => Promise<boolean>;
  isTaken: (path: string) => Promise<boolean>;
  /** The file gets its path; false when another one has it. */
  appear: (draft: string, file: PlacedFile) => Promise<boolean>;
  /** Deletes the unfinished file that a worker that died left for this path. */
  dropDraft: (path: string) => Promise<void>;
}

type Facts = Pick<PlacedFile, 'size' | 'sha256'>;

/** One job with its notes. */
export interface Placing {
  recordingId: string;
  notes: Notes;
  /** Called right before the file appears; it appears only when this did not throw. */
  appears: () => Promise<void>;
}

/** Throws `FolderUnavailable` while the folder cannot be written. */
export async function destinationOf(work: Work, folder: Folder, placing: Placing): Promise<Destination> {
  const storage = await writableStorage(work, folder);
  if (storage.kind === 'mount') return onMount(await placeOf(work, folder), placing);
  const reader = await reported(() => readerById(work, folder.storageId));
  if (!reader?.place) throw new FolderUnavailable();
  await dropParts(reader, placing);
  return onRemote(work, { folder, reader, placing });
}

function onMount(top: string, { recordingId, appears }: Placing): Destination {
  const found = (path: string) => lstat(join(top, path)).catch(() => undefined);
  return {
    drafts: join(top, '.foyer-recordings', recordingId),
    inTurn: (place) => place(),
    requireRoom: async () => undefined, // drafts take the same space
    factsOf: async (draft) => ({ size: (await stat(draft)).size }),
    async holds({ path, size }) {
      const file = await found(path);
      return file?.isFile() === true && file.size === size;
    },
    isTaken: async (path) => (await found(path)) !== undefined,
    async appear(draft, { path }) {
      await appears();
      await mkdir(dirname(join(top, path)), { recursive: true });
      return appear(draft, join(top, path));
    },
    dropDraft: async () => undefined, // it is among the drafts
  };
}

interface Remote {
  folder: Folder;
  reader: StorageReader;
  placing: Placing;
}

function onRemote(work: Work, remote: Remote): Destination {
  const { folder, reader, placing } = remote;
  const found = (path: string) => reported(() => reader.stat(joined(folder.path, path)));
  return {
    drafts: join(work.config.scratchDir, 'recordings', placing.recordingId),
    inTurn,
    requireRoom: (bytes) => reported(() => requireRoom(remote, bytes)),
    factsOf: async (draft) => ({ size: (await stat(draft)).size, sha256: await hashOf(draft, work.signal) }),
    async holds(file) {
      const there = await found(file.path);
      if (there?.kind !== 'file' || there.size !== file.size) return false;
      return file.appeared || inTurn(() => reported(() => isSame(work, remote, file)));
    },
    isTaken: async (path) => (await found(path)) !== undefined,
    appear: (draft, file) => reported(() => send(work, draft, { ...remote, file })),
    dropDraft: (path) => reported(() => reader.remove(joined(folder.path, dirname(path), draftNameOf(placing)))),
  };
}

const draftNameOf = ({ recordingId }: Placing): string => `.foyer-recording-${recordingId}`;

/** An object in parts of a worker that died takes space until they are deleted. */
async function dropParts(reader: StorageReader, { notes }: Placing): Promise<void> {
  const { parts } = notes.kept;
  if (!parts) return;
  await reported(async () => reader.dropParts?.(parts.path, parts.id));
  await notes.keep({ parts: undefined });
}

async function hashOf(draft: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(draft, { highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest('hex');
}

async function requireRoom({ reader, folder }: Remote, bytes: number): Promise<void> {
  await reader.stat(folder.path); // kinds that report no space answer at least
  const space = await reader.space();
  if (space && space.freeBytes < bytes) throw new StorageFault('full', 'the storage has no space for the file');
}

/** Reads the file on the storage. */
async function isSame(
  { signal }: Work,
  { reader, folder }: Remote,
  { path, size, sha256 }: PlacedFile,
): Promise<boolean> {
  const hash = createHash('sha256');
  const place = { reader, path: joined(folder.path, path) };
  await pipeline(streamOf(place, { start: 0, end: size - 1 }), hash, { signal });
  return hash.digest('hex') === sha256;
}

async function send(
  { signal }: Work,
  draft: string,
  { folder, reader, placing, file: { size, sha256 = '', ...file } }: Remote & { file: PlacedFile },
): Promise<boolean> {
  const path = joined(folder.path, file.path);
  const sending = {
    ...{ size, sha256 },
    draftName: draftNameOf(placing),
    appears: placing.appears,
    noteParts: (id: string) => placing.notes.keep({ parts: { path, id } }),
    open: async () => createReadStream(draft, { highWaterMark: 1 << 20 }),
  };
  try {
    await reader.place?.(path, sending, { signal });
    return true;
  } catch (error) {
    if (error instanceof Occupied) return false;
    // Tried for days, a storage that changes its files would get one more by each attempt: those are few.
    if (isChanged(error) && (await reader.stat(path)))
      throw new Error('the storage changed the file', { cause: error });
    throw error;
  }
}

/** The bytes were others than announced, here or there. */
const isChanged = (error: unknown): boolean => error instanceof Unsent && error.cause === undefined;

/** Faults of the storage as the job knows them. */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Absent || isChanged(error)) throw new FolderUnavailable('the file was lost', { cause: error });
    if (error instanceof Unsent) throw error.cause;
    if (!(error instanceof StorageFault)) throw error;
    if (error.reason === 'full') throw new DiskFull(error.message, { cause: error });
    throw new FolderUnavailable(error.message, { cause: error });
  }
}

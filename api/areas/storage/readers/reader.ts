import type { Readable } from 'node:stream';
import type { StorageReason } from '../storages.schemas.ts';

/** A file or folder as a storage lists it. */
export interface Listed {
  name: string;
  kind: 'directory' | 'file' | 'other';
  size: number;
  modifiedMs: number;
  readable: boolean;
  symlink?: boolean;
  /** Only of folders, where it costs nothing. */
  hasChildren?: boolean;
}

export interface Listing {
  entries: Listed[];
  /** The folder has more entries than were read. */
  cut: boolean;
}

export interface Space {
  totalBytes: number;
  freeBytes: number;
}

export interface Options {
  signal?: AbortSignal | undefined;
}

/** A file that is put into a storage whole. */
export interface NewFile {
  size: number;
  /** In hex. */
  sha256: string;
  /** Kept where the kind can. */
  modifiedAt?: Date | undefined;
  /** Name of the file while it is not complete; kinds whose files appear whole do not use it. */
  draftName: string;
  /** The kind holds parts of the file under this id until the file is whole; called before the first of them is sent. */
  noteParts?: (id: string) => Promise<void>;
  /** Called right before the file gets its name; it appears only when this did not throw. */
  appears?: () => Promise<void>;
  open: () => Promise<Readable>;
}

/** `moved` is called whenever bytes went through. */
export interface Placing extends Options {
  moved?: () => void;
}

/**
 * A place with files, of any kind. Paths are relative to the storage, without a slash at either end. Throws
 * `StorageFault` when the place does not answer, and `Absent` for a path that does not exist.
 */
export interface StorageReader {
  list(path: string, options: Options & { most: number }): Promise<Listing>;
  stat(path: string, options?: Options): Promise<Listed | undefined>;
  /** At most one block; fewer bytes than `length` only at the end of the file. */
  read(path: string, range: { start: number; length: number }, options?: Options): Promise<Buffer>;
  /** Creates a small file and never replaces one unless `replace` is set. */
  write(path: string, content: Buffer, options?: Options & { replace?: boolean }): Promise<void>;
  /**
   * Streams a new file to its path and makes the folders above it. It appears whole, with the size and hash of `file`, or not at
   * all; throws `Occupied` when another file has the path. An unfinished file that a killed process left is replaced. Absent
   * for mounts, which processes write themselves.
   */
  place?(path: string, file: NewFile, options?: Placing): Promise<void>;
  /** Deletes the parts that a killed process left, by the id that it noted; absent for kinds without parts. */
  dropParts?(path: string, id: string, options?: Options): Promise<void>;
  remove(path: string, options?: Options): Promise<void>;
  /** Undefined where the kind does not report it. */
  space(options?: Options): Promise<Space | undefined>;
  /** Identifies the file system behind the root in this process; undefined where there is none. */
  fingerprint?(options?: Options): Promise<string>;
  /** Throws when nothing can be written now; absent where only a write shows it. */
  writable?(options?: Options): Promise<void>;
  close(): Promise<void>;
}

/** Bytes of one ranged read. */
export const BLOCK_BYTES = 4 << 20;

/** The step of a check that a fault belongs to, where it is not the step that ran. */
export type Stage = 'resolve' | 'connect' | 'authenticate';

/** The storage does not answer, or refuses. The message contains no secret and no address with credentials. */
export class StorageFault extends Error {
  readonly reason: StorageReason;
  readonly stage: Stage | undefined;
  constructor(reason: StorageReason, message: string, { stage, ...options }: ErrorOptions & { stage?: Stage } = {}) {
    super(message, options);
    this.reason = reason;
    this.stage = stage;
  }
}

/** There is no such file or folder. */
export class Absent extends Error {}

/** A write found a file at its path. */
export class Occupied extends Error {}

/** The file to place could not be read, has other bytes than announced or sent, or is not wanted any more: no fault that the storage reports. */
export class Unsent extends Error {}

/** The file has its final name, and the storage holds other bytes there than were sent; never thrown for a draft. */
export class Altered extends Unsent {}

/** Joins path segments and leaves out empty ones. */
export const joined = (...parts: string[]): string =>
  parts
    .flatMap((part) => part.split('/'))
    .filter((part) => part !== '' && part !== '.')
    .join('/');

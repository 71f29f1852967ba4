/**
 * Messages between the main thread and the walking thread. Paths are inside the storage, without a slash at either end.
 */

export interface KnownDirectory {
  modifiedMs: number;
  /** Number of media files in it, and of those that are faulty. */
  media: number;
  faults: number;
  content: string;
}

export interface WalkOrder {
  /** Absolute path of the storage's root. */
  root: string;
  /** The library's folder: nothing outside it is opened. */
  folder: string;
  /** Type of the library, which decides what its media are. */
  type: string;
  /** Real paths of all folders of the library, the only places that links may lead to. Default: the folder's own. */
  tops?: string[];
  /** Directories to start from: `folder` or below. */
  from: string[];
  /** Globs of the library's settings. */
  ignore: string[];
  /** Last known state by path: a directory with the same content is not returned. Without it, all are returned. */
  known?: Map<string, KnownDirectory>;
  /** Known subdirectories by path, also for paths that were never listed. A missing one is returned with its parent. */
  expected?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Skips listing known directories with the same time. */
  quick?: boolean;
  /** Only these directories, without those below. */
  shallow?: boolean;
  /** Counts the directories and files that were read, so that a thread that hangs is noticed. */
  moved?: Int32Array;
  /** Version of the code that reads files; another version changes every content signature. */
  version: string;
}

export interface WalkedFile {
  name: string;
  size: number;
  mtimeMs: number;
  inode: string;
}

export interface WalkIssue {
  kind: 'unreadable' | 'bad-encoding' | 'name-conflict' | 'link-outside' | 'too-long-path';
  path: string;
  detail?: string;
}

export interface WalkedDirectory {
  path: string;
  /**
   * `listed`; `same` if only its time differs from the known state; `gone` if it vanished; `failed` if nothing can be
   * concluded.
   */
  state: 'listed' | 'same' | 'gone' | 'failed';
  modifiedMs: number;
  /** Names of the subdirectories that are walked too. */
  directories: string[];
  files: WalkedFile[];
  /** Number of files that become items. */
  media: number;
  /** Signature of the sidecars. */
  signature: string;
  /** Signature of everything listed; empty if the directory must be reported each time. */
  content: string;
  /** Number of entries that rules or reserved names exclude. */
  ignored: number;
  issues: WalkIssue[];
}

/** Totals of unchanged directories. */
export interface Same {
  directories: number;
  /** Number of them that were not even listed, because their time is the same. */
  passed: number;
  media: number;
  faults: number;
}

export interface WalkBatch {
  directories: WalkedDirectory[];
  same: Same;
  done: boolean;
  /** Device and inode of root and folder at this moment, to detect another file system under the same path. */
  identity: string;
}

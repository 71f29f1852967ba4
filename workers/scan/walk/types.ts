/** What the main thread asks of the walking thread, and what it gets. Paths are inside the storage, without a slash at either end. */

export interface KnownDirectory {
  modifiedMs: number;
  files: number;
}

export interface WalkOrder {
  /** Absolute path of the storage's root. */
  root: string;
  /** The library's folder: nothing outside it is opened. */
  folder: string;
  /** Where to begin, `folder` or below. */
  from: string[];
  /** Globs of the library's settings. */
  ignore: string[];
  /** A directory whose time is the same is not listed; absent lists all. */
  known?: Map<string, KnownDirectory>;
}

export interface WalkedFile {
  name: string;
  size: number;
  mtimeMs: number;
  inode: string;
}

export interface WalkIssue {
  kind: 'unreadable' | 'bad-encoding' | 'link-outside' | 'too-long-path';
  path: string;
  detail?: string;
}

export interface WalkedDirectory {
  path: string;
  /** `listed`; `unchanged` when its time is the known one; `gone` when it vanished meanwhile; `failed` when nothing can be said of it. */
  state: 'listed' | 'unchanged' | 'gone' | 'failed';
  modifiedMs: number;
  /** Names of the directories in it that are walked too. */
  directories: string[];
  files: WalkedFile[];
  signature: string;
  ignored: number;
  issues: WalkIssue[];
}

export interface WalkBatch {
  directories: WalkedDirectory[];
  done: boolean;
  /** Device and inode of the root and the folder at this moment: another file system under the same path shows. */
  identity: string;
}
